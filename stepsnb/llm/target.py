"""Where the requests of an agent go and with which settings: a pure value, found before anything is sent."""

import hashlib
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec

from ..errors import InputError
from ..keys import find_key
from ..settings import MODEL_NAME_CHARACTERS
from ..suggest import unknown_name
from ..usage import Price
from .addresses import is_http, to_base_url
from .providers import PROVIDERS, Provider, provider_at
from .providers.client import CLIENT

if TYPE_CHECKING:
    from ..config import Agent, PriceEntry, Source


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One model at one address, with the dials of the agent that talks to it.

    `model` is the name on the wire, `label` what the user wrote. `base_url` is empty until a model of `local/` is
    served. The key itself is never here: `api_key_env` names the variable that holds it. `price` is None when
    the pipeline has none, and `asks_server` says whether a request that the conversation doesn't need (for the
    size of the context window) may be sent. Relative script files are looked up in `base_dir`. `client` names the
    variable of a client that the user brings along, which has its own address and key. `session` keeps the requests of
    one agent in one run together at a provider that pins them (ASCII), None elsewhere.
    """

    provider: str
    model: str
    label: str
    base_url: str
    api_key_env: str | None = None
    tool_mode: Literal["native", "json"] = "native"
    string_tool_choice: bool = False
    stream: bool = True
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    context_window: int | None = None
    price: Price | None = None
    asks_server: bool = True
    base_dir: Path = Path()
    client: str | None = None
    session: str | None = None


FREE = Price(input=Decimal(0), output=Decimal(0), source="local")
"""What models cost that run here, or that are a script."""


def resolve_target(
    source: "Source",
    *,
    agent: "Agent",
    prices: Mapping[str, "PriceEntry"],
    default_model: str | None,
    base_dir: Path,
    run_id: str = "",
    asks_server: bool = True,
    needs_key: bool = True,
) -> Target:
    """Find where an agent's requests go, in the run of that id.

    `prices` is the pipeline's own table, looked up by the model as written and by its name on the wire;
    `default_model` is the pipeline's, for a source that names none. `asks_server` goes into the target.
    Where nothing is sent, no key is needed (`needs_key`).

    Raises: `InputError` for no model, an unknown provider, or a key variable that is not set.
    """
    where = f"agent `{agent.name}`"
    label = source.model or default_model
    if not label:
        raise InputError(f"{where}: names no model; set `source.model`, or `defaults.model` for every agent")
    if len(label) > MODEL_NAME_CHARACTERS:
        raise InputError(f"{where}: the model's name is longer than {MODEL_NAME_CHARACTERS} characters")
    if source.client is not None:
        provider, model, base_url = CLIENT, label, ""
    else:
        provider, model, base_url = _locate(where, label, source.endpoint)
    key_env = source.api_key_env or provider.key_env
    if not needs_key:
        key_env = None
    if key_env is not None:
        _check_key(where, provider, key_env)
    price = FREE if provider.is_free else None
    entry = prices.get(label) or prices.get(model)
    if entry is not None:
        price = Price(
            input=entry.input, output=entry.output, cache_read=entry.cache_read, cache_write=entry.cache_write
        )
    return Target(
        provider=provider.name,
        model=model,
        label=label,
        base_url=base_url,
        api_key_env=key_env,
        tool_mode=provider.tool_mode if source.tool_mode == "auto" else source.tool_mode,
        string_tool_choice=(
            provider.string_tool_choice if source.string_tool_choice is None else source.string_tool_choice
        ),
        stream=source.stream,
        temperature=agent.temperature,
        top_p=agent.top_p,
        max_tokens=agent.max_tokens if agent.max_tokens is not None else provider.default_max_tokens,
        reasoning_effort=agent.reasoning_effort,
        context_window=agent.context_window,
        price=price,
        asks_server=asks_server,
        base_dir=base_dir,
        client=source.client,
        session=_session(run_id, agent.name) if provider.pins_sessions and run_id else None,
    )


def _session(run_id: str, agent: str) -> str:
    """Name what the requests of an agent have in common: its turns, visits, sub-agent calls and retries of one run.

    A digest, so that it is short, says nothing of the run, and has no letter that a header cannot hold.
    """
    return hashlib.sha256(f"{run_id}\n{agent}".encode("utf-8", "surrogatepass")).hexdigest()


def _locate(where: str, label: str, endpoint: str | None) -> tuple[Provider, str, str]:
    """Return the provider, the model's name on the wire and the base URL."""
    if endpoint is not None:
        if "@" in urlsplit(endpoint).netloc:
            raise InputError(
                f"{where}: `source.endpoint` holds a user name or password, which would not be sent; "
                "name a variable that holds the key with `source.api_key_env`"
            )
        return provider_at(endpoint), label, endpoint.rstrip("/")
    prefix, slash, model = label.partition("/")
    if not slash or not model:
        raise InputError(
            f"{where}: model `{label}` names no provider; write `PROVIDER/MODEL` with one of "
            f"{', '.join(sorted(PROVIDERS))}, or set `source.endpoint`"
        )
    provider = PROVIDERS.get(prefix)
    if provider is None:
        raise InputError(
            f"{where}: {unknown_name('provider', prefix, PROVIDERS)}; "
            f"to send `{label}` as it is to another server, set `source.endpoint`"
        )
    base_url = provider.base_url or ""
    given = os.environ.get(provider.base_url_env) if provider.base_url_env else None
    if given:
        base_url = to_base_url(given, base_url)
        if not is_http(base_url):
            raise InputError(f"{where}: provider `{provider.name}`: {provider.base_url_env} holds no http address")
    return provider, model, base_url


def key_variable(source: "Source", default_model: str | None) -> str | None:
    """Return the variable that holds the key of a source; None where none is needed, or the source is not known."""
    label = source.model or default_model
    if source.api_key_env is not None or source.client is not None or not label:
        return source.api_key_env
    try:
        return _locate("", label, source.endpoint)[0].key_env
    except InputError:
        return None


def _check_key(where: str, provider: Provider, variable: str) -> None:
    key = find_key(variable)
    if not key:
        raise InputError(
            f"{where}: provider `{provider.name}`: {variable} is not set; set it in the environment before the kernel "
            f"starts, write `{variable}=…` into a file `.env` here, or set it in a cell with "
            f'`import os, getpass; os.environ["{variable}"] = getpass.getpass()`'
        )
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            f"{where}: provider `{provider.name}`: {variable} holds a character that no key has; "
            "set it to the key alone"
        )

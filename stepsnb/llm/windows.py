"""How large a model's context window is, from whoever knows it."""

from typing import Any, Literal

import httpx
import msgspec

from ..settings import ASSUMED_WINDOW
from .addresses import add_path, is_loopback
from .connection import request_headers
from .families import family_window
from .prices import known_model
from .providers import provider_named
from .target import Target
from .transports.network import network

ASK_S = 5.0
"""A server that does not list its models within this time is not asked again."""

_KEYS = ("n_ctx", "loaded_context_length", "context_length", "max_context_length", "max_model_len", "context_window")


_SERVED_HERE = ("llama-server", "lmstudio", "local", "ollama")
"""Providers that serve models with a window of the user's choice, often far smaller than the model's own."""


class Window(msgspec.Struct, frozen=True):
    """How many tokens a model's context holds, None when nobody says, and whose word that is."""

    tokens: int | None
    source: Literal["agent", "catalogue", "server", "assumed"]


async def locate_window(target: Target) -> Window:
    """Find the context window of a target.

    The agent's own `context_window` decides. A server on this machine is asked before any catalogue: what it serves
    may be less than the model can. Otherwise the table of genai-prices comes first, then the server's list of
    models, if a request that the conversation doesn't need may be sent; at last what the family of the model has
    at least.
    """
    if target.context_window is not None:  # a server of `local/` says it when it starts
        return Window(target.context_window, "server" if target.provider == "local" else "agent")
    if (known := _catalogued(target)) is not None:
        return Window(known, "catalogue")
    if target.asks_server and provider_named(target.provider).has_model_windows:
        served = await _ask(target)
        if served is not None:
            return Window(served, "server")
    if (family := _of_family(target)) is not None:
        return Window(family, "catalogue")
    return Window(None, "assumed")


async def find_window(target: Target) -> int | None:
    """Return the context window of a target in tokens, None when nobody says; `locate_window` also says who does."""
    return (await locate_window(target)).tokens


def _is_served_here(target: Target) -> bool:
    return target.provider in _SERVED_HERE or bool(target.base_url and is_loopback(target.base_url))


def _catalogued(target: Target) -> int | None:
    known = None if _is_served_here(target) else known_model(target)
    return int(known[1].context_window) if known is not None and known[1].context_window else None


def _of_family(target: Target) -> int | None:
    """Return what the model's family has at least; on this machine only if that is less than would be assumed."""
    if provider_named(target.provider).is_free:  # a script, or a model of `local/`, whose server says its window
        return None
    window = family_window(target.model)
    is_too_bold = window is not None and window > ASSUMED_WINDOW and _is_served_here(target)
    return None if is_too_bold else window


async def _ask(target: Target) -> int | None:
    url = httpx.URL(add_path(target.base_url, "models"))
    headers = request_headers(target, url)
    timeouts = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), ASK_S)}
    try:
        transport = await network(target.base_url)
        response = await transport.handle_async_request(httpx.Request("GET", url, headers=headers, extensions=timeouts))
        try:
            listed = msgspec.json.decode(await response.aread()) if response.status_code == 200 else None
        finally:
            await response.aclose()
    except (httpx.TransportError, httpx.DecodingError, msgspec.DecodeError, ValueError):
        return None  # the conversation itself will say what is wrong with the server
    return read_window(listed, target.model)


def read_window(listed: Any, model: str) -> int | None:
    """Find a model's window in a server's list of models.

    Sources: llama.cpp (`meta.n_ctx`), LM Studio (`loaded_context_length`, `max_context_length`), OpenRouter
    (`context_length`), vLLM (`max_model_len`).
    """
    models = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(models, list):
        return None
    entries = [entry for entry in models if isinstance(entry, dict)]
    chosen = next((entry for entry in entries if entry.get("id") == model), None)
    if chosen is None and len(entries) == 1:  # llama-server serves its one model under any name
        chosen = entries[0]
    if chosen is None:
        return None
    meta = chosen.get("meta")
    for place in (meta if isinstance(meta, dict) else {}, chosen):
        for key in _KEYS:
            value = place.get(key)
            if isinstance(value, int) and value > 0:
                return value
    return None

"""The request that asks a server whether it is there, and what its answer means."""

import asyncio
import re
from typing import Any

import httpx
import msgspec

from ..errors import ProviderError
from ..settings import LLM_CONNECT_S
from ..suggest import did_you_mean
from . import failures
from .addresses import add_path
from .connection import request_headers, translate
from .providers import provider_named
from .target import Target
from .transports.network import network

LIST_BYTES = 4_000_000
"""A list of models that is longer is not read: what it holds is only needed for a hint."""

LIST_S = 5.0
"""How long a list may take to come, once its server has answered."""

_TIMEOUTS = {"timeout": {"connect": LLM_CONNECT_S, "read": None, "write": None, "pool": None}}
_NO_SUCH_REQUEST = 501
"""Above 499 and yet no outage: a server that knows no such request."""

_ABOUT_RIGHTS = re.compile(r"scope|permission", re.IGNORECASE)
_NAMED_ALIKE = ("models/{}", "{}:latest")
"""How servers call a model in their list that is asked for by its plain name."""


async def request_probe(target: Target) -> str | None:
    """Ask a target's server, as `Probes.ask` says."""
    provider = provider_named(target.provider)
    url = httpx.URL(add_path(target.base_url, provider.probe_path))
    headers = request_headers(target, url)
    headers += [(name.encode(), value.encode()) for name, value in provider.probe_headers]
    key = failures.api_key(target)
    if provider.probe_key_header is not None and key is not None:
        headers.append((provider.probe_key_header.encode(), key.encode("ascii")))
    status: int | None = None
    try:
        transport = await network(target.base_url)
        request = httpx.Request("GET", url, headers=headers, extensions=_TIMEOUTS)
        response = await transport.handle_async_request(request)
        try:
            status = response.status_code
            body = await _read_in_time(response)
        finally:
            await response.aclose()
    except httpx.TransportError as exc:
        raise translate(target, status, exc) from exc
    except httpx.DecodingError:
        return None  # there is somebody, whose list of models is of no use
    except ValueError as exc:
        raise ProviderError(f"{failures.where(target)}: {exc}") from exc
    failure = failures.refused(target, status, body, response.headers)
    if status == 401 and not _ABOUT_RIGHTS.search(str(failure)):
        raise failure
    if status >= 500 and status != _NO_SUCH_REQUEST:
        raise failure
    return _unlisted(target, body) if status == 200 else None


async def _read_in_time(response: httpx.Response) -> bytes:
    try:
        async with asyncio.timeout(LIST_S):
            return await _read(response)
    except TimeoutError:
        return b""  # its status says enough


async def _read(response: httpx.Response) -> bytes:
    kept, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LIST_BYTES:
            return b""
        kept.append(part)
    return b"".join(kept)


def _unlisted(target: Target, body: bytes) -> str | None:
    """Say that a server's list has no such model; None when it has, or when that is no such list."""
    try:
        listed = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    names = _names(listed)
    wanted = {target.model, *(form.format(target.model) for form in _NAMED_ALIKE)}
    if len(names) < 2 or wanted & names:  # a server of one model serves it under any name
        return None
    hint = failures.plain(did_you_mean(target.model, names), target)
    said = f"its list of models has no `{target.model}`{' ' if hint else ''}{hint}"
    return f"{failures.where(target)}: {said}; it is asked for all the same"


def _names(listed: Any) -> set[str]:
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        return set()
    return {entry["id"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)}

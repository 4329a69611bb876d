"""How large a model's context window is, from whoever knows it."""

from typing import Any

import httpx
import msgspec

from .addresses import add_path
from .connection import request_headers
from .prices import known_model
from .providers import provider_named
from .target import Target
from .transports.network import network

ASK_S = 5.0
"""A server that does not list its models within this time is not asked again."""

_KEYS = ("n_ctx", "loaded_context_length", "context_length", "max_context_length", "max_model_len", "context_window")


async def find_window(target: Target) -> int | None:
    """Return the context window of a target in tokens, None when nobody says.

    The agent's own `context_window` decides; then the table of genai-prices; then, if a request that the
    conversation doesn't need may be sent, the server's list of models.
    """
    if target.context_window is not None:
        return target.context_window
    known = known_model(target)
    if known is not None and known[1].context_window:
        return int(known[1].context_window)
    if target.asks_server and provider_named(target.provider).has_model_windows:
        return await _ask(target)
    return None


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

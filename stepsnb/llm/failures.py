"""Words for failed model requests: where it happened, what happened, and what to do instead."""

import email.utils
import math
import re
import time
from collections.abc import Mapping

import msgspec

from ..keys import find_key
from ..settings import LLM_REPLY_BYTES
from .addresses import show_url
from .providers import provider_named
from .reply import RequestFailed
from .target import Target

MAX_MESSAGE_CHARACTERS = 600
"""Of a provider's own words in one of our messages."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_SPACE = re.compile(r"\s+")
_RETRYABLE = frozenset({408, 409, 429})


def is_retryable(status: int) -> bool:
    """Whether the same request may succeed later, by the status alone."""
    return status in _RETRYABLE or status >= 500


def where(target: Target) -> str:
    """Name the provider for the start of a message; an endpoint without an entry is named by its address."""
    if target.client is not None:
        return f"client `{target.client}`"
    if target.provider == "endpoint":
        return f"endpoint `{show_url(target.base_url)}`"
    return f"provider `{target.provider}`"


def plain(text: str, target: Target) -> str:
    """Make foreign text fit for a message: one bounded line, no control characters, no key."""
    key = api_key(target)
    if key:
        text = text.replace(key, "[key]")
    text = _SPACE.sub(" ", _CONTROL.sub(" ", text)).strip()
    return text if len(text) <= MAX_MESSAGE_CHARACTERS else text[:MAX_MESSAGE_CHARACTERS].rstrip() + " …"


def api_key(target: Target) -> str | None:
    """Return the key as it is now; None where none is needed or set."""
    return find_key(target.api_key_env) or None if target.api_key_env else None


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a provider asks to wait. `Retry-After` is seconds or a date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):  # the second for numbers that no date has
            return None
    return None if math.isnan(seconds) else max(seconds, 0.0)


def read_error(error: object) -> tuple[str, int | None]:
    """Return the words and the status in an error object, as providers spell it."""
    if isinstance(error, str):
        return error, None
    if not isinstance(error, dict):
        return "", None
    inner = error.get("error")
    if isinstance(inner, dict | str) and inner:
        return read_error(inner)
    words = next((error[key] for key in ("message", "detail", "msg") if isinstance(error.get(key), str)), "")
    metadata = error.get("metadata")  # OpenRouter: what the upstream provider said
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
        words = f"{words}: {metadata['raw']}"
    code = error.get("code", error.get("status"))
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    status = code if isinstance(code, int) and 400 <= code <= 599 else None
    return words or msgspec.json.encode(error).decode(), status


def refused(target: Target, status: int, body: bytes, headers: Mapping[str, str]) -> RequestFailed:
    """Build the error of a response with an error status."""
    try:
        words, _ = read_error(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        words = "" if body.lstrip()[:1] == b"<" else body[:4096].decode("utf-8", "replace")
    said = plain(words, target)
    return RequestFailed(
        f"{where(target)}: {_meaning(target, status, headers)}" + (f": {said}" if said else ""),
        status=status,
        retryable=is_retryable(status),
        retry_after_s=read_retry_after(headers),
    )


def _meaning(target: Target, status: int, headers: Mapping[str, str]) -> str:
    """Say what a status means here and what to do."""
    if 300 <= status < 400:
        place = show_url(headers.get("location", "")) if "location" in headers else "another address"
        setting = "the client's `base_url`" if target.client is not None else "`source.endpoint`"
        return f"redirected ({status}) to {place}; set {setting} to the address that answers"
    match status:
        case 401 | 403 if target.client is not None:
            return f"key refused ({status}); check the key the client was made with"
        case 401 | 403 if target.api_key_env:
            return f"key refused ({status}); check {target.api_key_env} in the environment this kernel started with"
        case 401 | 403:
            return f"a key is wanted ({status}); name the variable that holds it with `source.api_key_env`"
        case 402:
            return "payment wanted (402); add credit, or use another model"
        case 404:
            address = f"the address {show_url(target.base_url)}" if target.base_url else "the client's address"
            return f"model `{target.model}` or {address} is not known there (404)"
        case 413:
            return "the request is too large (413)"
        case 429:
            return "asked to slow down (429)"
    return f"failed ({status})" if status >= 500 else f"request refused ({status})"


def too_large(target: Target, status: int) -> RequestFailed:
    """Build the error of a response that goes on beyond all use."""
    size = f"{LLM_REPLY_BYTES // 1_000_000} MB"
    return RequestFailed(
        f"{where(target)}: the reply is larger than {size}; ask for less, or look at the server", status=status
    )


def unreachable(target: Target, reason: str) -> RequestFailed:
    """Build the error of a request that reached nobody."""
    advice = provider_named(target.provider).advice
    return RequestFailed(
        f"{where(target)}: nothing answers at {show_url(target.base_url)} ({reason}); {advice}", retryable=True
    )


def stalled(target: Target, seconds: float) -> RequestFailed:
    """Build the error of a response that stopped coming."""
    return RequestFailed(f"{where(target)}: no answer for {seconds:g} s", retryable=True)


def broken_off(target: Target, status: int | None, reason: str) -> RequestFailed:
    """Build the error of a connection that was lost before the reply was whole."""
    return RequestFailed(
        f"{where(target)}: the connection was lost before the reply was complete ({plain(reason, target)})",
        status=status,
        retryable=True,
    )


def cut_short(target: Target, status: int) -> RequestFailed:
    """Build the error of a stream that ended well as HTTP goes, without its reply having ended."""
    return RequestFailed(
        f"{where(target)}: the stream ended before the reply was complete", status=status, retryable=True
    )


def malformed(target: Target, status: int, data: bytes, exc: Exception) -> RequestFailed:
    """Build the error of bytes that are no chunk of a chat completion."""
    excerpt = plain(data[:200].decode("utf-8", "replace"), target)
    return RequestFailed(
        f"{where(target)}: sent something that is no chat completion ({plain(str(exc), target)}): {excerpt}",
        status=status,
        retryable=True,
    )


def not_a_completion(target: Target, status: int, content_type: str, data: bytes) -> RequestFailed:
    """Build the error of a good response that holds something else, such as a web page.

    One that holds nothing comes from a server or proxy that lost the reply, so the same request may succeed later.
    """
    kind = content_type.partition(";")[0].strip() or "something else"
    if data.lstrip()[:1] == b"<":
        hint = f"; does {show_url(target.base_url)} end in the API's version (`/v1`)?"
    else:
        hint = f": {plain(data[:200].decode('utf-8', 'replace'), target)}" if data.strip() else " with nothing in it"
    words = f"{where(target)}: answered {kind}, not a chat completion{hint}"
    return RequestFailed(words, status=status, retryable=not data.strip())


def failed_midway(target: Target, status: int, error: object) -> RequestFailed:
    """Build the error of a response that began well and then carried an error object."""
    words, said_status = read_error(error)
    return RequestFailed(
        f"{where(target)}: failed while replying: {plain(words, target) or 'no reason given'}",
        status=said_status or status,
        retryable=said_status is None or is_retryable(said_status),
    )

"""Exceptions of a client that the user brings along, translated once into `RequestFailed`.

They are told apart by their names and shapes: OpenAI's own and those of the SDKs made by the same generator have
them in common, so that none has to be imported, and httpx and httpx2 do as well.
"""

from collections.abc import Iterator, Mapping

import msgspec

from . import failures
from .connection import connect_reason
from .reply import RequestFailed
from .target import Target

_CREDENTIALS = ("authorization", "api-key", "x-api-key", "proxy-authorization")
"""Headers that hold a key, in lower case."""

_MIN_SECRET_CHARACTERS = 4
_DEPTH = 10


class Lost(Exception):
    """What a client raised while its response was opened or read; `cause` is the exception itself."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


def translate_client_error(target: Target, status: int | None, exc: BaseException, secrets: set[str]) -> RequestFailed:
    """Turn what a client raised into an error that says what to do; `status` is that of a response that had begun.

    No member of `secrets`, and no key that was sent with the request, is in its message.
    """
    hidden = secrets | set(_sent_keys(exc))
    failed_status = getattr(exc, "status_code", None)
    if isinstance(failed_status, int):
        response = getattr(exc, "response", None)
        headers = getattr(response, "headers", None)
        return failures.refused(
            target,
            failed_status,
            _hide(_error_body(exc), hidden).encode("utf-8", "replace"),
            headers if isinstance(headers, Mapping) else {},
        )
    kinds = {each.__name__ for link in _chain(exc) for each in type(link).__mro__}
    words = failures.plain(_hide(_last_words(exc), hidden), target)
    where = failures.where(target)
    if kinds & {"ConnectError", "ConnectTimeout", "ProxyError", "ConnectionRefusedError", "gaierror"}:
        reason = "no connection in time" if "ConnectTimeout" in kinds else _hide(connect_reason(exc), hidden)
        return failures.unreachable(target, reason)
    if kinds & {"APITimeoutError", "TimeoutException", "TimeoutError"}:
        return RequestFailed(f"{where}: no answer within the client's own time limit", status=status, retryable=True)
    if "RuntimeError" in kinds and "event loop" in words.lower():
        return RequestFailed(
            f"{where}: its connections belong to another event loop ({words}); make a client without `http_client`, "
            "or one for stepsnb alone",
            retryable=True,
        )
    if kinds & {"APIConnectionError", "RequestError", "ConnectionError"}:
        return failures.broken_off(target, status, words)
    return RequestFailed(f"{where}: the client raised {type(exc).__name__}" + (f": {words}" if words else ""))


def without_secrets(failure: RequestFailed, secrets: set[str]) -> RequestFailed:
    """Take keys out of the message of an error that quotes what a server sent."""
    message = str(failure)
    hidden = _hide(message, secrets)
    if hidden != message:
        failure.args = (hidden,)
    return failure


def _chain(exc: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = exc
    for _ in range(_DEPTH):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _last_words(exc: BaseException) -> str:
    """Return the words of the exception below the SDK's own, which only says `Connection error.`."""
    return next((str(link) for link in reversed(list(_chain(exc))) if str(link)), "") or type(exc).__name__


def _error_body(exc: BaseException) -> str:
    """Return the body of an error response, from whichever place the SDK left it in."""
    response = getattr(exc, "response", None)
    try:
        content = response.content if response is not None else b""
    except Exception:  # noqa: BLE001 - a response whose body was not read has an exception of its library's own
        content = b""
    if isinstance(content, bytes) and content:
        return content.decode("utf-8", "replace")
    body = getattr(exc, "body", None)
    try:
        return msgspec.json.encode(body).decode() if body else str(exc)
    except (TypeError, ValueError):
        return str(exc)


def _sent_keys(exc: BaseException) -> Iterator[str]:
    """Return the keys in the headers of the request that failed."""
    for link in _chain(exc):
        try:
            headers = getattr(getattr(link, "request", None), "headers", None)
        except RuntimeError:  # httpx: the request of this exception was never set
            continue
        if isinstance(headers, Mapping):
            for name in _CREDENTIALS:
                value = headers.get(name)
                if isinstance(value, str):
                    yield value.rpartition(" ")[2]


def _hide(text: str, secrets: set[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _MIN_SECRET_CHARACTERS:
            text = text.replace(secret, "[key]")
    return text

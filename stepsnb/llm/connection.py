"""One request and its response over a transport, with every failure of the network put into words."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterable
from typing import Protocol

import httpx

from ..settings import LLM_CONNECT_S, LLM_REPLY_BYTES, LLM_RUN_S, VERSION
from . import failures
from .addresses import add_path
from .reader import ReplyReader
from .reply import RequestFailed
from .target import Target

LINGER_S = 1.0
"""How long the end of a response is waited for once its stream has said that it is done."""

ERROR_BODY_BYTES = 64 * 1024
_TIMEOUTS = {"timeout": {"connect": LLM_CONNECT_S, "read": LLM_RUN_S, "write": LLM_RUN_S, "pool": None}}


def request_headers(target: Target, url: httpx.URL) -> list[tuple[bytes, bytes]]:
    """Return the headers that all requests to a target have in common."""
    headers = [
        (b"Host", url.netloc),
        (b"User-Agent", b"stepsnb/" + VERSION.encode()),
        (b"Accept", b"text/event-stream, application/json"),
        (b"Content-Type", b"application/json"),
    ]
    key = failures.api_key(target)
    if key is not None:
        headers.append((b"Authorization", b"Bearer " + key.encode("ascii")))
    if target.session is not None:
        headers.append((b"x-session-id", target.session.encode("ascii")))
    return headers


class Link(Protocol):
    """A way to send requests to a target, prepared once: `HttpLink`, or the `ClientLink` of a client brought along."""

    @property
    def target(self) -> Target:
        """Where the requests go."""

    async def post(self, body: bytes, reader: ReplyReader) -> None:
        """Send one request and feed its response to `reader`; on cancellation the connection is closed at once.

        Raises: `RequestFailed`.
        """


class HttpLink:
    """The link over our own transports: address and headers of a target."""

    def __init__(self, target: Target, transport: httpx.AsyncBaseTransport) -> None:
        self.target = target
        self._transport = transport
        self._url = httpx.URL(add_path(target.base_url, "chat/completions"))
        self._headers = request_headers(target, self._url)

    async def post(self, body: bytes, reader: ReplyReader) -> None:
        """Send one request, as `Link` says."""
        request = httpx.Request("POST", self._url, headers=self._headers, content=body, extensions=_TIMEOUTS)
        status: int | None = None
        try:
            response = await self._transport.handle_async_request(request)
            try:
                status = response.status_code
                if status >= 300:
                    raise failures.refused(self.target, status, await _read_error_body(response), response.headers)
                await _read(self.target, response, reader)
            finally:
                await response.aclose()
        except httpx.TransportError as exc:
            raise translate(self.target, status, exc) from exc
        except httpx.DecodingError as exc:
            raise failures.broken_off(self.target, status, str(exc)) from exc


async def _read(target: Target, response: httpx.Response, reader: ReplyReader) -> None:
    reader.status = response.status_code
    reader.content_type = response.headers.get("content-type", "")
    # The raw stream, if it can be: each layer of asynchronous generators costs time for every chunk.
    is_encoded = response.headers.get("content-encoding", "identity") != "identity"
    body: AsyncIterable[bytes] = response.aiter_bytes() if is_encoded else response.stream  # type: ignore[assignment]
    await read_body(target, body, reader, httpx.TransportError)


async def read_body(target: Target, body: AsyncIterable[bytes], reader: ReplyReader, lost: type[Exception]) -> None:
    """Feed a response's bytes to `reader` until its stream is done; `lost` is what a lost connection raises.

    Raises: `RequestFailed`, and `lost` when the reply was not whole by then.
    """
    chunks, size = aiter(body), 0
    try:
        async for chunk in chunks:
            size += len(chunk)
            if size > LLM_REPLY_BYTES:
                raise failures.too_large(target, reader.status)
            reader.feed(chunk)
            if reader.is_done:
                break
        else:
            return
    except lost:
        if reader.is_whole:  # only what follows the reply was lost
            return
        raise
    # A connection whose response was read to its end can be used again.
    with contextlib.suppress(TimeoutError, lost):
        async with asyncio.timeout(LINGER_S):
            async for _ in chunks:
                pass


async def _read_error_body(response: httpx.Response) -> bytes:
    body = b""
    with contextlib.suppress(httpx.TransportError, httpx.DecodingError):
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > ERROR_BODY_BYTES:
                break
    return body


def translate(target: Target, status: int | None, exc: httpx.TransportError) -> RequestFailed:
    """Turn an exception of the network into one that says what to do."""
    match exc:
        case httpx.ConnectTimeout():
            return failures.unreachable(target, f"no connection within {LLM_CONNECT_S:g} s")
        case httpx.ConnectError() | httpx.ProxyError():
            return failures.unreachable(target, connect_reason(exc))
        case httpx.TimeoutException():
            return failures.stalled(target, LLM_RUN_S)
    return failures.broken_off(target, status, str(exc) or type(exc).__name__)


def connect_reason(exc: BaseException) -> str:
    """Find the operating system's reason below a failed connection."""
    cause: BaseException | None = exc
    while cause is not None:
        match cause:
            case ConnectionRefusedError():
                return "connection refused"
            case socket.gaierror():
                return "no such host"
            case ssl.SSLCertVerificationError():
                return f"its certificate is not trusted: {cause.verify_message}"
        cause = cause.__cause__ or cause.__context__
    return str(exc) or type(exc).__name__

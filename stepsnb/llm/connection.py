"""Network connections to model servers: a pool for each event loop and address, and one exchange over it at a time."""

import asyncio
import contextlib
import functools
import socket
import ssl
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterable
from urllib.parse import urlsplit

import httpx

from .. import __version__
from ..settings import LLM_CONNECT_S, LLM_RUN_S
from . import failures
from .addresses import is_loopback
from .reader import ReplyReader
from .reply import RequestFailed
from .target import Target

KEPT_WARM = 300
"""Idle connections kept open to one address; there is no limit to those in use."""

KEPT_WARM_S = 60.0
LINGER_S = 1.0
"""How long the end of a response is waited for once its stream has said that it is done."""

ERROR_BODY_BYTES = 64 * 1024
_TIMEOUTS = {"timeout": {"connect": LLM_CONNECT_S, "read": LLM_RUN_S, "write": LLM_RUN_S, "pool": None}}

_pools: dict[tuple[asyncio.AbstractEventLoop, str], tuple[httpx.AsyncBaseTransport, AsyncGenerator[None, None]]] = {}


async def network(base_url: str) -> httpx.AsyncBaseTransport:
    """Return the running loop's connections to an address; they are closed with the loop.

    Raises: `ValueError` for a proxy in the environment that cannot be used.
    """
    parts = urlsplit(base_url)
    key = (asyncio.get_running_loop(), f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
    if key not in _pools:
        pool = _new_pool(base_url)
        guard = _close_with_loop(key, pool)
        _pools[key] = (pool, guard)
        # A loop ends the asynchronous generators that were begun on it before it closes.
        await anext(guard)
    return _pools[key][0]


async def _close_with_loop(
    key: tuple[asyncio.AbstractEventLoop, str], pool: httpx.AsyncBaseTransport
) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _pools.pop(key, None)
        await pool.aclose()


def _new_pool(base_url: str) -> httpx.AsyncHTTPTransport:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEPT_WARM, keepalive_expiry=KEPT_WARM_S)
    is_plain = base_url.startswith("http:") and is_loopback(base_url)
    proxy = proxy_for(base_url)
    try:
        return httpx.AsyncHTTPTransport(verify=False if is_plain else _tls(), limits=limits, proxy=proxy)
    except ImportError as exc:
        raise ValueError("a SOCKS proxy needs `pip install httpx[socks]`") from exc


@functools.cache
def _tls() -> ssl.SSLContext:
    """Make the process's TLS context: reading the certificates takes tens of milliseconds."""
    return httpx.create_ssl_context()


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment wants for a URL; never one for this machine."""
    parts = urlsplit(url)
    if is_loopback(url) or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and "://" not in proxy:
        proxy = f"http://{proxy}"
    return proxy


def request_headers(target: Target) -> list[tuple[bytes, bytes]]:
    """Return the headers that all requests to a target have in common."""
    headers = [
        (b"Host", urlsplit(target.base_url).netloc.rpartition("@")[2].encode("ascii")),
        (b"User-Agent", b"stepsnb/" + __version__.encode()),
        (b"Accept", b"text/event-stream, application/json"),
        (b"Content-Type", b"application/json"),
    ]
    key = failures.api_key(target)
    if key is not None:
        headers.append((b"Authorization", b"Bearer " + key.encode("ascii")))
    return headers


class Link:
    """What it takes to send a request to a target: transport, address and headers, prepared once."""

    def __init__(self, target: Target, transport: httpx.AsyncBaseTransport) -> None:
        self.target = target
        self._transport = transport
        self._url = httpx.URL(target.base_url + "/chat/completions")
        self._headers = request_headers(target)

    async def post(self, body: bytes, reader: ReplyReader) -> None:
        """Send one request and feed its response to `reader`; on cancellation the connection is closed at once.

        Raises: `RequestFailed`.
        """
        request = httpx.Request("POST", self._url, headers=self._headers, content=body, extensions=_TIMEOUTS)
        status: int | None = None
        try:
            response = await self._transport.handle_async_request(request)
            try:
                status = response.status_code
                if status >= 300:
                    raise failures.refused(self.target, status, await _read_error_body(response), response.headers)
                await _read(response, reader)
            finally:
                await response.aclose()
        except httpx.TransportError as exc:
            raise translate(self.target, status, exc) from exc
        except httpx.DecodingError as exc:
            raise failures.broken_off(self.target, status, str(exc)) from exc


async def _read(response: httpx.Response, reader: ReplyReader) -> None:
    reader.status = response.status_code
    reader.content_type = response.headers.get("content-type", "")
    # The raw stream, if it can be: each layer of asynchronous generators costs time for every chunk.
    is_encoded = response.headers.get("content-encoding", "identity") != "identity"
    body: AsyncIterable[bytes] = response.aiter_bytes() if is_encoded else response.stream  # type: ignore[assignment]
    chunks = aiter(body)
    async for chunk in chunks:
        reader.feed(chunk)
        if reader.is_done:
            break
    else:
        return
    # A connection whose response was read to its end can be used again.
    with contextlib.suppress(TimeoutError, httpx.TransportError):
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
            return failures.unreachable(target, _reason(exc))
        case httpx.TimeoutException():
            return failures.stalled(target, LLM_RUN_S)
    return failures.broken_off(target, status, str(exc) or type(exc).__name__)


def _reason(exc: BaseException) -> str:
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

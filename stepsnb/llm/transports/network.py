"""The network as a transport: warm connections to one address, found in constant time, closed with their event loop."""

import asyncio
import functools
import ssl
import time
import urllib.request
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

import httpx

from ..addresses import is_loopback

KEPT_WARM = 300
"""Idle connections kept open to one address; there is no limit to those in use."""

KEPT_WARM_S = 60.0

_Place = tuple[asyncio.AbstractEventLoop, str]
_networks: dict[_Place, tuple["Network", AsyncGenerator[None, None]]] = {}


async def network(base_url: str) -> "Network":
    """Return the running loop's connections to an address; they are closed with the loop.

    Raises: `ValueError` for a proxy in the environment that cannot be used.
    """
    parts = urlsplit(base_url)
    place = (asyncio.get_running_loop(), f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
    if place not in _networks:
        guard = _close_with_loop(place)
        _networks[place] = (Network(_lane_maker(base_url)), guard)
        # A loop ends the asynchronous generators that were begun on it before it closes.
        await anext(guard)
    return _networks[place][0]


async def _close_with_loop(place: _Place) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await _networks.pop(place)[0].aclose()


class Network(httpx.AsyncBaseTransport):
    """Connections to one address, each in a transport of its own.

    One pool for all of them looks at every connection whenever one is asked for or given back, which makes a
    hundred concurrent conversations pay for one another; a stack of idle ones does not.
    """

    def __init__(self, new_lane: Callable[[], httpx.AsyncBaseTransport]) -> None:
        self._new_lane = new_lane
        self._idle: deque[tuple[httpx.AsyncBaseTransport, float]] = deque([(new_lane(), time.monotonic())])
        self._busy: set[httpx.AsyncBaseTransport] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request over the connection used last, or a new one."""
        lane = self._idle.pop()[0] if self._idle else self._new_lane()
        self._busy.add(lane)
        try:
            response = await lane.handle_async_request(request)
        except BaseException:
            await self._give_back(lane)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        end = self._discard if _closes_behind_our_back(response) else self._give_back
        response.stream = _Lent(response.stream, functools.partial(end, lane))
        return response

    async def _give_back(self, lane: httpx.AsyncBaseTransport) -> None:
        if lane not in self._busy:
            return
        self._busy.remove(lane)
        now = time.monotonic()
        self._idle.append((lane, now))
        while len(self._idle) > KEPT_WARM or now - self._idle[0][1] > KEPT_WARM_S:
            await self._idle.popleft()[0].aclose()

    async def _discard(self, lane: httpx.AsyncBaseTransport) -> None:
        if lane in self._busy:
            self._busy.remove(lane)
            await lane.aclose()

    async def aclose(self) -> None:
        """Close every connection, also those in use."""
        lanes = [*self._busy, *(lane for lane, _ in self._idle)]
        self._busy.clear()
        self._idle.clear()
        for lane in lanes:
            await lane.aclose()


def _closes_behind_our_back(response: httpx.Response) -> bool:
    """Whether this connection must not be used again, whatever its headers say.

    llama.cpp's server announces keep-alive on a streamed reply and closes after it; a request sent at once is lost.
    """
    return response.headers.get("server") == "llama.cpp" and "transfer-encoding" in response.headers


class _Lent(httpx.AsyncByteStream):
    """The body of a response; closing it gives the connection back."""

    def __init__(self, body: httpx.AsyncByteStream, give_back: Callable[[], Awaitable[None]]) -> None:
        self._body = body
        self._give_back = give_back

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__()

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        finally:
            await self._give_back()


def _lane_maker(base_url: str) -> Callable[[], httpx.AsyncBaseTransport]:
    verify = False if base_url.startswith("http:") and is_loopback(base_url) else _tls()
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEPT_WARM_S)
    proxy = proxy_for(base_url)

    def new_lane() -> httpx.AsyncBaseTransport:
        try:
            return httpx.AsyncHTTPTransport(verify=verify, limits=limits, proxy=proxy)
        except ImportError as exc:
            raise ValueError("a SOCKS proxy needs `pip install httpx[socks]`") from exc

    return new_lane


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

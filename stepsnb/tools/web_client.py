"""Fetches a page: each hop and each resolved address checked, the body bounded while it comes in."""

import asyncio
import functools
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from typing import Any

import httpcore
import httpx

from ..settings import VERSION, WEB_FETCH_BYTES, WEB_FETCH_HOPS
from .web_fence import Fence, FetchRefused

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Looks up the IP addresses of a host, for a port. Raises: OSError."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "User-Agent": f"stepsnb/{VERSION}",
    "Accept": "text/*, application/json, application/xml;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}


_GZIP = b"\x1f\x8b"
"""How each part of a packed body begins."""


class FetchFailed(Exception):
    """A page that could not be had; its text is for the model."""


@dataclass(frozen=True, slots=True)
class Page:
    """A response: its status, and the first bytes of its decoded body; `is_cut` says that there were more."""

    status: int
    content_type: str
    body: bytes
    is_cut: bool


async def resolve(host: str, port: int) -> list[str]:
    """Ask this machine's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def fetch(url: str, fence: Fence, *, resolve: Resolve = resolve, max_bytes: int = WEB_FETCH_BYTES) -> Page:
    """Get a page, following redirects; the environment's proxies are not used, as they would hide who is reached.

    Raises: FetchRefused for what the fence does not let through, FetchFailed for anything else that goes wrong.
    """
    place = parse_url(url)
    async with httpcore.AsyncConnectionPool(
        ssl_context=_tls(), network_backend=_CheckedNetwork(fence, resolve), retries=0
    ) as pool:
        for _ in range(WEB_FETCH_HOPS + 1):
            fence.check_host(place.raw_host.decode("ascii"))  # the host as it is looked up
            page_or_next = await _get(pool, place, max_bytes)
            if isinstance(page_or_next, Page):
                return page_or_next
            place = page_or_next
    raise FetchFailed(f"more than {WEB_FETCH_HOPS} redirects; fetch the page it ends at")


def parse_url(url: str) -> httpx.URL:
    """Read an address, refusing what two readers could take for two hosts. Raises: FetchRefused."""
    if "\\" in url or any(c.isspace() or ord(c) < 0x20 for c in url):
        raise FetchRefused("an address has no blanks, control characters or `\\`; write it percent-encoded")
    try:
        place = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError, ValueError) as exc:
        raise FetchRefused(f"not an address: {exc}; write `https://HOST/PATH`") from exc
    if place.scheme not in ("http", "https"):
        raise FetchRefused("only `http://` and `https://` addresses can be fetched")
    if not place.host:
        raise FetchRefused("the address names no host; write `https://HOST/PATH`")
    if place.port is not None and not 0 < place.port < 65_536:
        raise FetchRefused(f"there is no port {place.port}; leave it out, or write one up to 65535")
    if place.userinfo:
        raise FetchRefused("an address with a user name or password is not fetched; leave out what is before `@`")
    return place


async def _get(pool: httpcore.AsyncConnectionPool, place: httpx.URL, max_bytes: int) -> Page | httpx.URL:
    """Make one request; returns the page, or the address it redirects to."""
    target = httpcore.URL(scheme=place.raw_scheme, host=place.raw_host, port=place.port, target=place.raw_path or b"/")
    headers: list[tuple[bytes | str, bytes | str]] = [("Host", place.netloc), *_HEADERS.items()]
    async with _translated(), pool.stream("GET", target, headers=headers) as response:
        got = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        if response.status in _REDIRECTS and "location" in got:
            return _next_hop(place, got["location"])
        body, is_cut = await _read(response.aiter_stream(), got.get("content-encoding", ""), max_bytes)
        return Page(response.status, got.get("content-type", ""), body, is_cut)


def _next_hop(place: httpx.URL, location: str) -> httpx.URL:
    try:
        following = str(place.join(location))
    except (httpx.InvalidURL, UnicodeError, ValueError) as exc:
        raise FetchRefused(f"`{place.host}` redirects to something that is no address") from exc
    if "\\" in location:
        following = location
    try:
        return parse_url(following)
    except FetchRefused as exc:
        raise FetchRefused(f"`{place.host}` redirects: {exc}") from exc


async def _read(chunks: AsyncIterator[bytes], encoding: str, max_bytes: int) -> tuple[bytes, bool]:
    """Read and decode at most `max_bytes`; returns them and whether there were more."""
    decode = _decoder(encoding)
    body = bytearray()
    async for chunk in chunks:
        for piece in decode(chunk, max_bytes + 1 - len(body)):
            body += piece
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


def _decoder(encoding: str) -> Callable[[bytes, int], Iterable[bytes]]:
    """Return what decodes a chunk to at most so many bytes. Raises: FetchFailed."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda chunk, most: [chunk[:most]]
    if name not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"the body is encoded as `{name}`, which was not asked for")
    unzip = zlib.decompressobj(47 if "gzip" in name else zlib.MAX_WBITS)

    def decode(chunk: bytes, most: int) -> Iterable[bytes]:
        nonlocal unzip
        while chunk and most > 0:
            if unzip.eof:  # a file of gzip may be several, one after the other (RFC 1952, 2.2)
                if not chunk.startswith(_GZIP[: len(chunk)]):
                    return  # what comes after the last is filling
                unzip = zlib.decompressobj(47)
            try:
                piece = unzip.decompress(chunk, most)
            except zlib.error as exc:
                raise FetchFailed(f"the body is not the `{name}` it says it is") from exc
            yield piece
            most, chunk = most - len(piece), unzip.unused_data

    return decode


class _CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connections to addresses that were looked at: the one that is checked is the one that is reached."""

    def __init__(self, fence: Fence, resolve: Resolve) -> None:
        self._fence = fence
        self._resolve = resolve
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore calls it by this name
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that answers. Raises: FetchRefused, httpcore.ConnectError."""
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as exc:
            raise httpcore.ConnectError(f"there is no host `{host}`") from exc
        self._fence.check_addresses(host, addresses)
        failure = httpcore.ConnectError(f"`{host}` has no address")
        for address in addresses:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore.ConnectError as exc:
                failure = exc
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait between tries of a connection."""
        await asyncio.sleep(seconds)


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    try:
        yield
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, ssl.SSLError) as exc:
        raise FetchFailed(f"no usable answer: {str(exc) or type(exc).__name__}") from exc


@functools.cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def to_text(page: Page) -> str | None:
    """Decode a body by the charset its type names; None when it is no text."""
    kind = _kind(page.content_type)
    charset = kind.get_content_charset()
    if page.body.startswith((b"\xff\xfe", b"\xfe\xff")):
        charset = "utf-16"
    if charset is None and b"\0" in page.body:
        return None
    if kind.get_content_maintype() in ("image", "audio", "video", "font") and "xml" not in kind.get_content_subtype():
        return None
    try:
        text = page.body.decode(charset or "utf-8-sig", "replace")
    except (LookupError, ValueError):  # no such charset, or one that is none for a page
        text = page.body.decode("utf-8", "replace")
    return text.removesuffix("\ufffd") if page.is_cut else text


def _kind(content_type: str) -> Message:
    kind = Message()
    kind["Content-Type"] = content_type or "text/plain"
    return kind

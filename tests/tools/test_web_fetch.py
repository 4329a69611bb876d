import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpcore
import pytest

from stepsnb.tools import Tool, web_client, web_fetch
from stepsnb.tools.web_fence import Fence
from stepsnb.tools.web_fetch import web_fetch_tool

from .conftest import Call, error_of

Answer = Callable[[str, asyncio.StreamWriter], Awaitable[None]]

PUBLIC = "93.184.216.34"


class Site:
    """A server on this machine that every test host leads to; `asked` are the targets of its requests."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.asked: list[tuple[str, str]] = []
        self.looked_up: list[str] = []
        self.addresses: dict[str, list[str]] = {}
        self.answer: Answer = self.say_target

    async def say_target(self, target: str, writer: asyncio.StreamWriter) -> None:
        if target == "/r":
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:8888/\r\nContent-Length: 0\r\n\r\n")
        else:
            writer.write(ok(f"page {target}".encode()))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                host = next(line.partition(": ")[2] for line in lines if line.lower().startswith("host: "))
                self.asked.append((host, lines[0].split()[1]))
                await self.answer(lines[0].split()[1], writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def resolve(self, host: str, port: int) -> list[str]:
        """Look a name up as this machine would, except that names of the tests lead here."""
        self.looked_up.append(host)
        if host in self.addresses:
            return self.addresses[host]
        return ["127.0.0.1"] if host.rstrip(".").lower().endswith(".example") else await web_client.resolve(host, port)

    def tool(self, *allow: str) -> Tool:
        return web_fetch_tool(allow=allow, resolve=self.resolve)

    def url(self, host: str, path: str = "/a") -> str:
        return f"http://{host}:{self.port}{path}"


def ok(body: bytes, *headers: str, kind: str = "text/plain; charset=utf-8") -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def _running(site: Site) -> AsyncIterator[Site]:
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with _running(Site()) as site:
        yield site


@pytest.mark.parametrize("host", ["docs.example", "api.docs.example", "DOCS.example."])
async def test_named_host_is_fetched(site: Site, call: Call, host: str) -> None:
    called = await call(site.tool("docs.example"), url=site.url(host))
    assert json.loads(called.result.content) == {
        "status": 200,
        "content_type": "text/plain; charset=utf-8",
        "body": "page /a",
        "truncated": False,
    }


@pytest.mark.parametrize(
    "url",
    [
        "http://notdocs.example/",
        "http://docs.example.evil.test/",
        "http://docs.example@10.1.2.3/",
        "http://docs.example:pw@10.1.2.3/",
        "http://docs.example\\@10.1.2.3/",
        "http://10.1.2.3\\.docs.example/",
        "http://10.1.2.3#@docs.example/",
        "http://10.1.2.3?@docs.example/",
        "http://127.0.0.1/",
        "http://0x7f000001/",
        "ftp://docs.example/",
        "file:///etc/hostname",
        "//docs.example/",
        "docs.example",
        "http:///a",
        "http://docs.example\r\nHost: evil.test/",
        "http://docs.example:99999/",
    ],
)
async def test_anything_else_is_refused_before_any_connection(site: Site, call: Call, url: str) -> None:
    assert "refused" in error_of(await call(site.tool("docs.example"), url=url))
    assert (site.connections, site.looked_up) == (0, [])


async def test_refusal_names_the_host_and_the_list(site: Site, call: Call) -> None:
    error = error_of(await call(site.tool("docs.example", "b.test"), url="https://issues.example/open"))
    assert error == (
        "`https://issues.example/open` is refused: host `issues.example` is not allowed; "
        "this tool reaches `docs.example`, `b.test` and their subdomains only"
    )


async def test_redirect_to_another_host_is_refused_at_the_hop(site: Site, call: Call) -> None:
    error = error_of(await call(site.tool("docs.example"), url=site.url("docs.example", "/r")))
    assert "host `127.0.0.1` is not allowed" in error
    assert site.asked == [(f"docs.example:{site.port}", "/r")]


async def test_redirect_within_the_fence_is_followed(site: Site, call: Call) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        there = f"http://api.docs.example:{site.port}/end"
        head = f"HTTP/1.1 301 Moved\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n"
        writer.write(head.encode() if target == "/a" else ok(b"end"))

    site.answer = answer
    called = await call(site.tool("docs.example"), url=site.url("docs.example"))
    assert called.result.data is not None
    assert called.result.data["body"] == "end"


async def test_redirects_without_end_are_given_up(site: Site, call: Call) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /a?again\r\nContent-Length: 0\r\n\r\n")

    site.answer = answer
    assert "more than 10 redirects" in error_of(await call(site.tool("docs.example"), url=site.url("docs.example")))
    assert len(site.asked) == 11


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0"],
)
async def test_bare_grant_does_not_reach_this_machine_in_any_spelling(site: Site, call: Call, host: str) -> None:
    error_of(await call(site.tool(), url=site.url(host)))
    assert site.connections == 0


async def test_bare_grant_reaches_no_name_one_of_whose_addresses_is_private(site: Site, call: Call) -> None:
    site.addresses["two.test"] = [PUBLIC, "127.0.0.1"]
    assert "private network" in error_of(await call(site.tool(), url=site.url("two.test")))
    assert site.connections == 0


async def test_redirect_of_a_public_page_to_this_machine_is_refused(
    site: Site, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fence, "check_addresses", _public_unless_literal(site))
    error = error_of(await call(site.tool(), url=site.url("open.example", "/r")))
    assert "private network" in error
    assert site.asked == [(f"open.example:{site.port}", "/r")]


def _public_unless_literal(site: Site) -> Callable[..., None]:
    """Take the tests' own server for a public one where it is reached by a name."""
    check = Fence.check_addresses

    def checked(self: Fence, host: str, addresses: list[str]) -> None:
        check(self, host, [PUBLIC] if host.endswith(".example") else addresses)

    return checked


async def test_address_that_is_checked_is_the_one_that_is_reached(site: Site, call: Call) -> None:
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def rebinding(host: str, port: int) -> list[str]:
        return answers.pop(0)

    connected = []

    class Recorded:
        async def connect_tcp(self, host: str, *args: object) -> object:
            connected.append(host)
            raise httpcore.ConnectError("nobody there")

    network = web_client._CheckedNetwork(Fence(), rebinding)
    network._network = Recorded()  # type: ignore[assignment]
    with pytest.raises(httpcore.ConnectError):
        await network.connect_tcp("rebind.test", 80)
    assert connected == [PUBLIC]


async def test_loopback_that_is_named_is_reached(site: Site, call: Call) -> None:
    called = await call(site.tool("127.0.0.1"), url=site.url("127.0.0.1"))
    assert called.ok


async def test_proxies_of_the_environment_are_not_used(site: Site, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await call(site.tool("docs.example"), url=site.url("docs.example"))).ok


async def test_endless_body_is_cut_at_the_cap(site: Site, call: Call) -> None:
    sent = 0

    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while sent < 100_000_000:
            writer.write(b"x" * 65_536)
            sent += 65_536
            await writer.drain()

    site.answer = answer
    called = await call(site.tool("docs.example"), url=site.url("docs.example"))
    data = called.result.data
    assert data is not None
    assert (len(data["body"]), data["truncated"], called.truncated, called.spilled_to) == (100_000, True, True, None)
    assert sent < 20_000_000


async def test_body_of_exactly_the_cap_is_whole(site: Site, call: Call) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(b"x" * 100_000))

    site.answer = answer
    data = (await call(site.tool("docs.example"), url=site.url("docs.example"))).result.data
    assert data is not None
    assert (len(data["body"]), data["truncated"]) == (100_000, False)


async def test_small_body_that_unpacks_to_much_is_cut(site: Site, call: Call) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(gzip.compress(b"0" * 50_000_000), "Content-Encoding: gzip"))

    site.answer = answer
    data = (await call(site.tool("docs.example"), url=site.url("docs.example"))).result.data
    assert data is not None
    assert (data["body"], data["truncated"]) == ("0" * 100_000, True)


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_packed_body_is_unpacked(site: Site, call: Call, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(pack("Grüße".encode() * 100), f"Content-Encoding: {encoding}"))

    site.answer = answer
    data = (await call(site.tool("docs.example"), url=site.url("docs.example"))).result.data
    assert data is not None
    assert (data["body"], data["truncated"]) == ("Grüße" * 100, False)


@pytest.mark.parametrize("filling", [b"", b"\0" * 10])
async def test_body_that_was_packed_in_parts_is_whole(site: Site, call: Call, filling: bytes) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(gzip.compress(b"one ") + gzip.compress(b"two") + filling, "Content-Encoding: gzip"))

    site.answer = answer
    data = (await call(site.tool("docs.example"), url=site.url("docs.example"))).result.data
    assert data is not None
    assert (data["body"], data["truncated"]) == ("one two", False)


async def test_parts_that_unpack_to_much_are_cut(site: Site, call: Call) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(gzip.compress(b"0" * 60_000) * 1000, "Content-Encoding: gzip"))

    site.answer = answer
    data = (await call(site.tool("docs.example"), url=site.url("docs.example"))).result.data
    assert data is not None
    assert (data["body"], data["truncated"]) == ("0" * 100_000, True)


@pytest.mark.parametrize(
    ("body", "encoding", "words"), [(b"plain", "gzip", "not the `gzip`"), (b"x", "br", "encoded as `br`")]
)
async def test_body_that_cannot_be_unpacked_is_an_error(
    site: Site, call: Call, body: bytes, encoding: str, words: str
) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(body, f"Content-Encoding: {encoding}"))

    site.answer = answer
    assert words in error_of(await call(site.tool("docs.example"), url=site.url("docs.example")))


@pytest.mark.parametrize(
    ("kind", "raw", "text"),
    [
        ("text/html; charset=iso-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ("text/plain; charset=no-such", "Grüße".encode(), "Grüße"),
        ("text/plain; charset=idna", "Grüße".encode(), "Grüße"),
        ("text/plain; charset=undefined", "Grüße".encode(), "Grüße"),
        ("text/plain", "﻿mark".encode(), "mark"),
        ("text/plain", "wide".encode("utf-16"), "wide"),
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("image/svg+xml", b"<svg/>", "<svg/>"),
        ("image/png", b"\x89PNG\r\n", "(image/png is no text, so it is not shown)"),
        ("application/octet-stream", b"a\0b", "(application/octet-stream is no text, so it is not shown)"),
    ],
)
async def test_body_is_read_by_its_type(site: Site, call: Call, kind: str, raw: bytes, text: str) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(raw, kind=kind))

    site.answer = answer
    data = (await call(site.tool("docs.example"), url=site.url("docs.example"))).result.data
    assert data is not None
    assert data["body"] == text


async def test_status_of_an_error_page_is_told_with_the_page(site: Site, call: Call) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngone")

    site.answer = answer
    called = await call(site.tool("docs.example"), url=site.url("docs.example"))
    assert called.ok
    assert called.result.data == {"status": 404, "content_type": "text/plain", "body": "gone", "truncated": False}


async def test_server_that_drips_is_given_up(site: Site, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_fetch, "WEB_FETCH_S", 0.2)

    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1_000):
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.05)

    site.answer = answer
    error = error_of(await call(site.tool("docs.example"), url=site.url("docs.example")))
    assert "did not come within 0.2 s" in error


@pytest.mark.parametrize("raw", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut"])
async def test_answer_that_is_none_is_an_error(site: Site, call: Call, raw: bytes) -> None:
    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        writer.close()

    site.answer = answer
    assert "could not be fetched" in error_of(await call(site.tool("docs.example"), url=site.url("docs.example")))


async def test_host_that_is_not_there_is_an_error(site: Site, call: Call) -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    tool = web_fetch_tool(resolve=nowhere)
    assert "there is no host `gone.test`" in error_of(await call(tool, url="http://gone.test/"))


def test_model_is_told_of_the_fence() -> None:
    assert web_fetch_tool(allow=["docs.example"]).description.endswith(
        "Only `docs.example` and their subdomains can be reached; anything else is refused."
    )
    assert web_fetch_tool().description.endswith("Only public hosts can be reached; anything else is refused.")


def test_fetches_may_run_side_by_side() -> None:
    assert web_fetch_tool().is_read_only

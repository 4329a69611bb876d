"""Connections to model servers: kept warm, never limited, closed with their loop, past proxies on this machine."""

import asyncio
import gc
import ssl
import sys
from typing import ClassVar

import httpx
import pytest

from stepsnb.errors import ProviderError
from stepsnb.llm import ModelClient
from stepsnb.llm.transports.network import Network, _networks, network, proxy_for
from stepsnb.messages import user

from ..conftest import DONE, build_target, delta

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


def reply(wire_server, *steps):
    wire_server.streams(*steps, delta(content="x"), delta("stop"), DONE)


async def complete(wire_server, **fields):
    return await ModelClient(build_target(wire_server.base_url, **fields)).open([]).complete([user("hi")])


async def test_more_than_a_hundred_requests_are_under_way_at_once(wire_server):
    for _ in range(120):
        reply(wire_server, 0.3)
    async with asyncio.timeout(20):
        await asyncio.gather(*(complete(wire_server) for _ in range(120)))
    assert wire_server.connections == 120


async def test_connection_used_last_is_used_next(wire_server):
    for _ in range(6):
        reply(wire_server)
    await asyncio.gather(*(complete(wire_server) for _ in range(3)))
    for _ in range(3):
        await complete(wire_server)
    assert wire_server.connections <= 3


async def test_connection_that_the_server_closed_is_not_used_again(wire_server):
    wire_server.streams(delta(content="x"), delta("stop"), DONE, is_cut=True)
    reply(wire_server)
    await complete(wire_server)
    await asyncio.sleep(0.05)
    assert (await complete(wire_server)).text == "x"
    assert wire_server.connections == 2


async def test_address_has_one_network_a_loop():
    first = await network("http://127.0.0.1:9/v1")
    assert await network("http://me:pw@127.0.0.1:9/other") is first
    assert await network("http://127.0.0.1:8/v1") is not first


def test_connections_end_with_their_loop(wire_server):
    reply(wire_server)
    before = len(_networks)
    asyncio.run(complete(wire_server))
    gc.collect()  # an unclosed socket would warn here, and warnings are errors
    assert len(_networks) == before


class Lane(httpx.AsyncBaseTransport):
    """A connection that answers with nothing and notes that it was closed."""

    closed: ClassVar[list["Lane"]] = []

    async def handle_async_request(self, request):
        return httpx.Response(200, stream=httpx.ByteStream(b""))

    async def aclose(self):
        self.closed.append(self)


async def use(kept, count):
    """Use that many connections at the same time, and give them back."""
    responses = [await kept.handle_async_request(httpx.Request("POST", "http://h/")) for _ in range(count)]
    for response in responses:
        await response.aclose()


async def test_idle_connections_beyond_the_limit_are_closed(monkeypatch):
    monkeypatch.setattr("stepsnb.llm.transports.network.KEPT_WARM", 2)
    monkeypatch.setattr(Lane, "closed", [])
    await use(Network(Lane), 5)
    assert len(Lane.closed) == 3


async def test_connections_that_were_idle_for_long_are_closed(monkeypatch):
    monkeypatch.setattr("stepsnb.llm.transports.network.KEPT_WARM_S", 0.02)
    monkeypatch.setattr(Lane, "closed", [])
    kept = Network(Lane)
    await use(kept, 3)
    await asyncio.sleep(0.05)
    await use(kept, 1)
    assert len(Lane.closed) == 2


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({"https_proxy": "http://p:1"}, "https://api.openai.com/v1", "http://p:1"),
        ({"https_proxy": "p:1"}, "https://api.openai.com/v1", "http://p:1"),
        ({"all_proxy": "http://p:1"}, "https://api.openai.com/v1", "http://p:1"),
        ({"http_proxy": "http://p:1"}, "https://api.openai.com/v1", None),
        ({"https_proxy": "http://p:1", "no_proxy": "openai.com"}, "https://api.openai.com/v1", None),
        ({"http_proxy": "http://p:1", "all_proxy": "http://p:1"}, "http://127.0.0.1:11434/v1", None),
        ({"http_proxy": "http://p:1"}, "http://localhost:11434/v1", None),
    ],
)
def test_proxy_of_the_environment_is_used_except_for_this_machine(monkeypatch, variables, url, proxy):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(url) == proxy


async def test_request_goes_through_the_proxy(wire_server, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{wire_server.port}")
    reply(wire_server)
    target = build_target("http://models.invalid/v1")
    assert (await ModelClient(target).open([]).complete([user("hi")])).text == "x"
    assert wire_server.requests[0].path == "http://models.invalid/v1/chat/completions"


async def test_socks_proxy_without_its_package_is_told(monkeypatch):
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1080")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ProviderError, match=r"a SOCKS proxy needs `pip install httpx\[socks\]`"):
        await ModelClient(build_target("http://models.invalid/v1")).prepare()


async def test_certificates_are_read_only_for_https(monkeypatch):
    made = []
    monkeypatch.setattr("stepsnb.llm.transports.network._tls", lambda: made.append(1) or ssl.create_default_context())
    await network("http://127.0.0.1:9/v1")
    assert made == []
    await network("https://models.invalid/v1")
    assert made == [1]

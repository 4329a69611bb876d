"""A server is asked once whether it is there, and what that means."""

import asyncio

import pytest

from stepsnb.errors import ProviderError
from stepsnb.llm import Probes, can_be_probed

from .conftest import build_target

MODELS = {"data": [{"id": "m1"}, {"id": "m2"}]}


@pytest.fixture(autouse=True)
def _probes_are_queued(wire_server):
    wire_server.queues_probes = True


@pytest.fixture
def clock():
    """Seconds that the test moves."""
    return [0.0]


@pytest.fixture
def probes(clock):
    return Probes(clock=lambda: clock[0])


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, MODELS),
        (200, {"data": [{"id": "some-file.gguf"}]}),  # a server of one model serves it under any name
        (200, {"data": [{"id": "models/m1"}, {"id": "models/m2"}]}),
        (200, {"data": [{"id": "m1:latest"}, {"id": "m2:latest"}]}),
        (200, b"<html>"),
        (200, {"data": 3}),
        (404, {"detail": "Not Found"}),
        (405, b""),
        (501, b"no such method"),
        (429, {"error": {"message": "slow down"}}),
        (403, {"error": {"message": "forbidden"}}),
        (401, {"error": {"message": "Missing scopes: model.read"}}),
        (307, b""),
    ],
)
async def test_who_answers_is_there(wire_server, probes, status, body):
    wire_server.says(status, body)
    assert await probes.ask(build_target(wire_server.base_url)) is None


async def test_model_that_a_list_lacks_is_noted_with_the_nearest_name(wire_server, probes):
    wire_server.says(200, {"data": [{"id": "llama-3-8b"}, {"id": "other"}]})
    note = await probes.ask(build_target(wire_server.base_url, model="llama3-8b"))
    assert "its list of models has no `llama3-8b` (did you mean `llama-3-8b`?)" in note


async def test_server_whose_list_drips_is_there(wire_server, probes, monkeypatch):
    monkeypatch.setattr("stepsnb.llm.probe_request.LIST_S", 0.05)
    wire_server.answers(b"HTTP/1.1 200 X\r\ncontent-length: 90\r\n\r\n{", 30.0)
    assert await probes.ask(build_target(wire_server.base_url)) is None


async def test_those_who_ask_at_the_same_time_are_told_of_the_same_failure(wire_server, probes):
    wire_server.says(503, b"")
    target = build_target(wire_server.base_url)
    told = await asyncio.gather(*(probes.ask(target) for _ in range(20)), return_exceptions=True)
    assert {type(each).__name__ for each in told} == {"RequestFailed"}
    assert len(wire_server.requests) == 1


async def test_who_leaves_takes_no_answer_from_the_others_and_the_last_ends_the_request(wire_server, probes):
    wire_server.answers(0.2, b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n").answers(30.0)
    target = build_target(wire_server.base_url)
    first, second = asyncio.create_task(probes.ask(target)), asyncio.create_task(probes.ask(target))
    await asyncio.sleep(0.05)
    first.cancel()
    assert await second is None
    last = asyncio.create_task(probes.ask(target))
    await asyncio.sleep(0.05)
    last.cancel()
    await asyncio.wait({last})
    assert await asyncio.to_thread(wire_server.client_left.wait, 5)
    assert len(wire_server.requests) == 2


async def test_list_beyond_all_use_is_not_read(wire_server, probes):
    wire_server.says(200, b'{"data": [{"id": "' + b"x" * 5_000_000 + b'"}, {"id": "b"}]}')
    assert await probes.ask(build_target(wire_server.base_url)) is None


@pytest.mark.parametrize("status", [500, 502, 503, 520])
async def test_broken_server_is_down(wire_server, probes, status):
    wire_server.says(status, {"error": {"message": "overloaded"}})
    with pytest.raises(ProviderError, match="overloaded") as caught:
        await probes.ask(build_target(wire_server.base_url))
    assert caught.value.retryable


async def test_refused_key_names_its_variable(wire_server, probes, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-wrong")
    wire_server.says(401, {"error": {"message": "bad key sk-wrong"}})
    with pytest.raises(ProviderError, match=r"key refused \(401\); check SOME_KEY") as caught:
        await probes.ask(build_target(wire_server.base_url, api_key_env="SOME_KEY"))
    assert not caught.value.retryable
    assert "sk-wrong" not in str(caught.value)


async def test_answer_is_trusted_until_it_is_old(wire_server, probes, clock):
    target = build_target(wire_server.base_url)
    assert probes.trusted(target, 300) == (False, None)
    wire_server.says(200, MODELS)
    await probes.ask(target)
    clock[0] = 299.0
    assert probes.trusted(target, 300) == (True, None)
    assert probes.trusted(target, 200) == (False, None)
    clock[0] = 300.0
    assert probes.trusted(target, 300) == (False, None)


async def test_other_model_address_or_key_is_not_trusted(wire_server, probes, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "one")
    target = build_target(wire_server.base_url, api_key_env="SOME_KEY")
    wire_server.says(200, MODELS)
    await probes.ask(target)
    others = [
        build_target(wire_server.base_url, api_key_env="SOME_KEY", model="m2"),
        build_target("http://127.0.0.1:1/v1", api_key_env="SOME_KEY"),
        build_target(wire_server.base_url),
    ]
    assert [probes.trusted(each, 300)[0] for each in (target, *others)] == [True, False, False, False]
    monkeypatch.setenv("SOME_KEY", "two")
    assert probes.trusted(target, 300) == (False, None)


async def test_failure_is_never_trusted_and_ends_trust(wire_server, probes):
    target = build_target(wire_server.base_url)
    wire_server.says(200, MODELS)
    await probes.ask(target)
    wire_server.says(503, {})
    with pytest.raises(ProviderError):
        await probes.ask(target)
    assert probes.trusted(target, 300) == (False, None)


async def test_each_provider_is_asked_where_it_says_whether_the_key_is_good(wire_server, probes, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "k")
    for provider in ("openrouter", "anthropic", "openai"):
        wire_server.says(200, {})
        await probes.ask(build_target(wire_server.base_url, provider=provider, api_key_env="SOME_KEY"))
    asked = [(received.method, received.path, received.headers.get("x-api-key")) for received in wire_server.requests]
    assert asked == [("GET", "/v1/key", None), ("GET", "/v1/models", "k"), ("GET", "/v1/models", None)]
    assert all(received.headers["authorization"] == "Bearer k" for received in wire_server.requests)
    assert wire_server.requests[1].headers["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("options", "is_probed"),
    [
        ({}, True),
        ({"provider": "scripted"}, False),
        ({"provider": "local"}, False),
        ({"provider": "client", "client": "mine"}, False),
    ],
)
def test_only_servers_are_asked(options, is_probed):
    assert can_be_probed(build_target("http://127.0.0.1:1/v1", **options)) is is_probed

"""How large a context window is, and who says so."""

import pytest

from stepsnb.llm import ModelClient
from stepsnb.llm.windows import Window, locate_window, read_window

from .conftest import build_target


@pytest.fixture(autouse=True)
def _list_is_queued(wire_server):
    wire_server.queues_probes = True


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"meta": {"n_ctx": 8192, "n_ctx_train": 2048}}, 8192),
        ({"loaded_context_length": 4096, "max_context_length": 131072}, 4096),
        ({"context_length": 200_000}, 200_000),
        ({"max_model_len": 32768}, 32768),
        ({"context_length": 0, "meta": None}, None),
        ({}, None),
    ],
    ids=["llama.cpp", "lmstudio", "openrouter", "vllm", "zero", "silent"],
)
def test_window_is_found_under_each_servers_name(entry, window):
    assert read_window({"data": [{"id": "m1", **entry}]}, "m1") == window


def test_other_models_window_is_not_taken():
    listed = {"data": [{"id": "a", "context_length": 1}, {"id": "b", "context_length": 2}]}
    assert (read_window(listed, "b"), read_window(listed, "c")) == (2, None)


def test_only_model_of_a_server_is_the_one_whatever_its_name():
    assert read_window({"data": [{"id": "/path/model.gguf", "meta": {"n_ctx": 512}}]}, "m1") == 512


@pytest.mark.parametrize("listed", [None, [], {"data": None}, {"data": ["x"]}])
def test_odd_list_says_nothing(listed):
    assert read_window(listed, "m1") is None


async def test_agents_own_window_decides_and_asks_nobody(wire_server):
    target = build_target(wire_server.base_url, context_window=7, asks_server=True)
    assert await ModelClient(target).context_window() == 7
    assert wire_server.requests == []


async def test_server_is_asked_for_its_models(wire_server):
    wire_server.says(200, {"data": [{"id": "m1", "meta": {"n_ctx": 8192}}]})
    assert await ModelClient(build_target(wire_server.base_url, asks_server=True)).context_window() == 8192
    assert (wire_server.requests[0].method, wire_server.requests[0].path) == ("GET", "/v1/models")


async def test_server_is_not_asked_when_only_the_conversation_may_send_requests(wire_server):
    assert await ModelClient(build_target(wire_server.base_url, asks_server=False)).context_window() is None
    assert wire_server.requests == []


@pytest.mark.parametrize(("status", "body"), [(404, {}), (200, b"<html>"), (500, b"")])
async def test_server_that_cannot_say_is_no_error(wire_server, status, body):
    wire_server.says(status, body)
    assert await ModelClient(build_target(wire_server.base_url, asks_server=True)).context_window() is None


async def test_server_that_is_not_there_is_no_error_yet():
    assert await ModelClient(build_target("http://127.0.0.1:1/v1", asks_server=True)).context_window() is None


async def test_table_knows_hosted_models():
    target = build_target("https://api.openai.com/v1", provider="openai", model="gpt-4.1", asks_server=True)
    assert await ModelClient(target).context_window() > 500_000


async def _locate(base_url="http://127.0.0.1:9/v1", **fields):
    return await locate_window(build_target(base_url, **fields))


async def test_agents_own_window_is_the_agents_word():
    assert await _locate(context_window=7) == Window(7, "agent")


async def test_window_of_a_fetched_model_is_the_word_of_its_server():
    assert await _locate(provider="local", context_window=8192) == Window(8192, "server")


async def test_catalogue_is_read_without_asking():
    found = await _locate("https://api.openai.com/v1", provider="openai", model="gpt-4.1", asks_server=True)
    assert found.source == "catalogue"
    assert found.tokens > 500_000


@pytest.mark.parametrize("provider", ["endpoint", "lmstudio", "llama-server"])
async def test_server_on_this_machine_outranks_the_catalogue(wire_server, provider):
    wire_server.says(200, {"data": [{"id": "qwen2.5-coder", "loaded_context_length": 4096}]})
    found = await _locate(wire_server.base_url, provider=provider, model="qwen2.5-coder", asks_server=True)
    assert found == Window(4096, "server")


@pytest.mark.parametrize("provider", ["endpoint", "lmstudio", "ollama"])
async def test_silent_server_on_this_machine_leaves_a_small_family(wire_server, provider):
    wire_server.says(404, {})
    found = await _locate(wire_server.base_url, provider=provider, model="qwen2.5-coder", asks_server=True)
    assert found == Window(32_000, "catalogue")


async def test_nothing_larger_than_the_assumed_window_is_believed_of_this_machine():
    assert await _locate(provider="ollama", model="kimi-k3:latest") == Window(None, "assumed")


async def test_family_stands_in_for_a_hosted_model_nobody_lists():
    found = await _locate("https://api.openai.com/v1", provider="openai", model="gpt-7-nova")
    assert found == Window(128_000, "catalogue")


async def test_unknown_model_is_assumed():
    assert await _locate(model="some-local-build") == Window(None, "assumed")


async def test_script_has_no_window_whatever_its_name():
    assert await _locate("http://scripted.invalid/v1", provider="scripted", model="qwen") == Window(None, "assumed")

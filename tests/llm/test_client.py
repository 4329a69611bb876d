"""Getting a model ready, and conversations that share what it takes."""

import asyncio
from types import SimpleNamespace

import pytest

from stepsnb.errors import InputError
from stepsnb.llm import ModelClient
from stepsnb.llm.local import ServerInfo
from stepsnb.messages import user

from .conftest import DONE, build_target, delta


@pytest.fixture
def served(monkeypatch, wire_server):
    """Let `local/` models be served by the wire server; returns the names that were asked for."""
    asked = []

    async def server_for(name, on_note=None):
        asked.append(name)
        if on_note is not None:
            on_note(f"starting `local/{name}`")
        return ServerInfo(base_url=wire_server.base_url, model="served", context_window=8192)

    monkeypatch.setattr("stepsnb.llm.local.server_for", server_for)
    return asked


def local_client():
    return ModelClient(build_target("", provider="local", model="smollm2", label="local/smollm2", tool_mode="json"))


async def test_local_model_is_served_when_prepared_and_once(served):
    notes = []
    client = local_client()
    await client.prepare(notes.append)
    await client.prepare(notes.append)
    assert (served, notes) == (["smollm2"], ["starting `local/smollm2`"])
    assert (client.target.model, client.target.label) == ("served", "local/smollm2")


async def test_local_models_window_is_its_servers(served, wire_server):
    assert await local_client().context_window() == 8192
    assert wire_server.requests == []


async def test_local_model_says_how_many_requests_it_answers_at_once(served):
    client = local_client()
    await client.prepare()
    assert client.slots == 1


async def test_endpoint_sets_no_limit_to_requests_at_once(wire_server):
    client = ModelClient(build_target(wire_server.base_url))
    await client.prepare()
    assert client.slots is None


def test_target_of_a_client_needs_the_client():
    with pytest.raises(InputError, match="client `my_llm` was not handed in; set the variable before the run"):
        ModelClient(build_target("", provider="client", client="my_llm"))


async def test_window_of_a_clients_model_is_known_by_its_name_and_asks_nobody():
    client = SimpleNamespace(chat=SimpleNamespace(completions=None), base_url="https://api.openai.com/v1/")
    target = build_target("", provider="client", client="my_llm", model="gpt-4.1", asks_server=True)
    assert (await ModelClient(target, client).context_window() or 0) > 100_000


async def test_first_request_prepares_what_nobody_prepared(served, wire_server):
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    reply = await local_client().open([]).complete([user("hi")])
    assert (reply.text, served) == ("x", ["smollm2"])
    assert wire_server.requests[0].json()["model"] == "served"


async def test_conversations_opened_together_prepare_once(served, wire_server):
    for _ in range(3):
        wire_server.streams(delta(content="x"), delta("stop"), DONE)
    client = local_client()
    await asyncio.gather(*(client.open([]).complete([user("hi")]) for _ in range(3)))
    assert served == ["smollm2"]


async def test_missing_script_is_told_when_prepared(tmp_path):
    target = build_target("http://scripted.invalid/v1", provider="scripted", model="gone.yml", base_dir=tmp_path)
    with pytest.raises(InputError, match=r"script `gone.yml`: cannot read it \(No such file or directory\)"):
        await ModelClient(target).prepare()


async def test_clients_of_one_address_share_warm_connections(wire_server):
    for _ in range(3):
        wire_server.streams(delta(content="x"), delta("stop"), DONE)
        client = ModelClient(build_target(wire_server.base_url))
        await client.open([]).complete([user("hi")])
        await client.close()
    assert wire_server.connections == 1

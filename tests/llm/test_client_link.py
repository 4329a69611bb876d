"""Requests through a client that the user brings along: OpenAI's own, sync and async, and objects that resemble it."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest

from stepsnb.llm import ModelClient, RequestFailed
from stepsnb.messages import user

from .conftest import ADD_STOP, DONE, Heard, build_target, delta, event

KEY = "sk-brought-along-0123456789"


@pytest.fixture(params=["sync", "async"])
def brought(request, wire_server):
    """Make an OpenAI client of the user's for the wire server."""

    def brought(**options: Any) -> Any:
        kind = openai.OpenAI if request.param == "sync" else openai.AsyncOpenAI
        return kind(**{"base_url": wire_server.base_url, "api_key": KEY, **options})

    return brought


def open_with(client, *tools, **fields):
    target = build_target("", **{"provider": "client", "client": "my_llm", **fields})
    return ModelClient(target, client).open(tools)


async def complete_with(client, *tools, listener=None, **fields):
    return await open_with(client, *tools, **fields).complete([user("hi")], listener=listener)


async def failure_of(client, **fields):
    with pytest.raises(RequestFailed) as caught:
        await complete_with(client, **fields)
    return caught.value


async def test_reply_is_streamed_through_the_users_client(brought, wire_server):
    wire_server.streams(delta(content="two "), delta(content="stops"), delta("stop"), DONE)
    heard = Heard()
    reply = await complete_with(brought(), listener=heard)
    assert (reply.text, reply.finish_reason, heard.texts) == ("two stops", "stop", ["two ", "stops"])


async def test_request_has_the_clients_key_headers_and_user_agent(brought, wire_server):
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    await complete_with(brought(default_headers={"X-Team": "tides"}))
    (request,) = wire_server.requests
    assert request.path == "/v1/chat/completions"
    assert (request.headers["authorization"], request.headers["x-team"]) == (f"Bearer {KEY}", "tides")
    assert "OpenAI" in request.headers["user-agent"]


async def test_body_is_what_our_own_link_sends(brought, wire_server, open_chat):
    for _ in range(2):
        wire_server.streams(delta(content="x"), delta("stop"), DONE)
    await complete_with(brought(), ADD_STOP, temperature=0.5, max_tokens=9)
    await open_chat(ADD_STOP, temperature=0.5, max_tokens=9).complete([user("hi")])
    through_client, through_ours = (request.json() for request in wire_server.requests)
    assert through_client == through_ours


async def test_plain_reply_is_read_where_no_stream_was_asked_for(brought, wire_server):
    wire_server.says(200, {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})
    assert (await complete_with(brought(), stream=False)).text == "x"


async def test_tool_call_split_over_chunks_is_assembled(brought, wire_server):
    def part(**function: str) -> bytes:
        return delta(tool_calls=[{"index": 0, "id": "c1", "function": function}])

    wire_server.streams(part(name="add_stop", arguments='{"st'), part(arguments='op": "A"}'), delta("tool_calls"), DONE)
    (call,) = (await complete_with(brought(), ADD_STOP)).tool_calls
    assert (call.name, call.arguments) == ("add_stop", '{"stop": "A"}')


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
async def test_failed_request_is_sent_once_whatever_the_clients_retries(brought, wire_server, status):
    wire_server.says(status, {"error": {"message": "not now"}}, x_should_retry="true", retry_after="7")
    failure = await failure_of(brought(max_retries=5))
    assert len(wire_server.requests) == 1
    assert (failure.status, failure.retryable, failure.retry_after_s) == (status, True, 7.0)
    assert str(failure).startswith("client `my_llm`: ")
    assert str(failure).endswith(": not now")


async def test_users_client_keeps_its_own_retries(brought):
    client = brought(max_retries=5)
    await ModelClient(build_target("", client="my_llm"), client).prepare()
    assert client.max_retries == 5


async def test_refused_key_says_where_to_look_and_hides_it(brought, wire_server):
    wire_server.says(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    failure = await failure_of(brought())
    assert str(failure) == (
        "client `my_llm`: key refused (401); check the key the client was made with: Incorrect API key provided: [key]"
    )
    assert not failure.retryable


async def test_key_in_a_stream_that_fails_is_hidden(brought, wire_server):
    wire_server.streams(event({"error": {"message": f"bad {KEY}"}}))
    failure = await failure_of(brought())
    assert str(failure) == "client `my_llm`: failed while replying: bad [key]"


async def test_client_that_reaches_nobody_is_retryable(brought, wire_server):
    wire_server.close()
    failure = await failure_of(brought())
    assert str(failure) == (
        f"client `my_llm`: nothing answers at {wire_server.base_url}/ (connection refused); "
        "check the client's `base_url` and the network"
    )
    assert (failure.retryable, failure.status) == (True, None)


async def test_clients_own_time_limit_is_kept_and_named(brought, wire_server):
    wire_server.answers(30.0)
    failure = await failure_of(brought(timeout=0.2))
    assert str(failure) == "client `my_llm`: no answer within the client's own time limit"
    assert failure.retryable


async def test_connection_lost_after_output_keeps_what_arrived(brought, wire_server):
    wire_server.streams(delta(content="two st"), is_cut=True)
    failure = await failure_of(brought())
    assert "the connection was lost before the reply was complete" in str(failure)
    assert (failure.status, failure.retryable, failure.partial.text) == (200, True, "two st")


async def test_stream_that_ends_without_its_end_is_no_reply(brought, wire_server):
    wire_server.streams(delta(content="two st"))
    failure = await failure_of(brought())
    assert str(failure) == "client `my_llm`: the stream ended before the reply was complete"


async def test_connection_lost_after_the_reply_is_whole_does_no_harm(brought, wire_server):
    wire_server.streams(delta(content="x"), delta("stop"), is_cut=True)
    assert (await complete_with(brought())).text == "x"


async def test_stream_that_goes_silent_ends_at_the_clients_time_limit(brought, wire_server):
    wire_server.streams(delta(content="two st"), 30.0)
    failure = await failure_of(brought(timeout=0.2))
    assert "no answer within the client's own time limit" in str(failure)
    assert failure.partial.text == "two st"


async def test_cancelled_request_closes_its_connection(brought, wire_server):
    wire_server.streams(delta(content="x"), 30.0, delta("stop"))
    begun = asyncio.Event()
    heard = Heard()
    heard.text = lambda _: begun.set()
    task = asyncio.create_task(complete_with(brought(), listener=heard))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(wire_server.client_left.wait, 5)


async def test_conversations_through_one_client_run_together(brought, wire_server):
    for _ in range(8):
        wire_server.streams(0.2, delta(content="x"), delta("stop"), DONE)
    client = brought()
    replies = await asyncio.gather(*(complete_with(client) for _ in range(8)))
    assert [reply.text for reply in replies] == ["x"] * 8


async def test_no_thread_is_left_when_a_reply_was_read(wire_server):
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    with openai.OpenAI(base_url=wire_server.base_url, api_key=KEY) as client:
        await complete_with(client)
    for thread in threading.enumerate():
        if thread.name == "stepsnb-client":
            await asyncio.to_thread(thread.join, 5)
            assert not thread.is_alive()


PLAIN = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}


async def ask_by_hand(client):
    made = await client.chat.completions.create(model="m1", messages=[{"role": "user", "content": "hi"}])
    return made.choices[0].message.content


def ask_on_a_loop_of_its_own(client):
    """Ask as a run does while a cell awaits it: on the engine's loop, in another thread."""
    with ThreadPoolExecutor(1) as engine:
        return engine.submit(asyncio.run, complete_with(client, stream=False)).result()


async def test_async_client_works_for_the_user_before_and_after_a_run(wire_server):
    for _ in range(3):
        wire_server.says(200, PLAIN)
    async with openai.AsyncOpenAI(base_url=wire_server.base_url, api_key=KEY, max_retries=0) as client:
        before = await ask_by_hand(client)
        reply = await asyncio.to_thread(ask_on_a_loop_of_its_own, client)
        after = await ask_by_hand(client)
    assert (before, reply.text, after) == ("x", "x", "x")


async def test_connections_of_the_users_own_http_client_are_not_left_to_another_loop(wire_server):
    for _ in range(2):
        wire_server.says(200, PLAIN)
    async with openai.DefaultAsyncHttpxClient() as http_client:
        client = openai.AsyncOpenAI(base_url=wire_server.base_url, api_key=KEY, http_client=http_client)
        reply = await asyncio.to_thread(ask_on_a_loop_of_its_own, client)
        assert (reply.text, await ask_by_hand(client)) == ("x", "x")


async def test_connection_of_another_loop_is_told_and_may_be_tried_anew():
    # Of the user's own HTTP client, when they left one open; what happens on the socket depends on who is faster.
    def create(**_: object) -> object:
        raise RuntimeError("<Event [unset]> is bound to a different event loop")

    failure = await failure_of(only_create(create))
    assert str(failure) == (
        "client `my_llm`: its connections belong to another event loop (<Event [unset]> is bound to a different event "
        "loop); make a client without `http_client`, or one for stepsnb alone"
    )
    assert failure.retryable


async def test_http_client_of_the_user_carries_the_requests():
    seen = []

    def answer(request: Any) -> Any:
        seen.append(str(request.url))
        return httpx.Response(200, json={"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http_client:
        client = openai.AsyncOpenAI(base_url="http://model.invalid/v1", api_key=KEY, http_client=http_client)
        assert (await complete_with(client)).text == "x"
    assert seen == ["http://model.invalid/v1/chat/completions"]


async def test_azure_client_is_asked_at_its_deployment(wire_server):
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    client = openai.AzureOpenAI(
        azure_endpoint=f"http://127.0.0.1:{wire_server.port}", api_key=KEY, api_version="2025-04-01-preview"
    )
    assert (await complete_with(client, model="tides-gpt")).text == "x"
    (request,) = wire_server.requests
    assert request.path.startswith("/openai/deployments/tides-gpt/chat/completions?api-version=")
    assert request.headers["api-key"] == KEY


async def test_azure_key_is_hidden_too(wire_server):
    wire_server.says(401, {"error": {"message": f"no {KEY}"}})
    client = openai.AzureOpenAI(
        azure_endpoint=f"http://127.0.0.1:{wire_server.port}", api_key=KEY, api_version="2025-04-01-preview"
    )
    assert KEY not in str(await failure_of(client))


def only_create(create):
    """An object that has no more of a client than `chat.completions.create`."""
    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


CHUNKS = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in ("two ", "stops")]
LAST = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
WHOLE = {"choices": [{"index": 0, "message": {"content": "two stops"}, "finish_reason": "stop"}]}


def to_objects(value):
    return json.loads(json.dumps(value), object_hook=lambda fields: SimpleNamespace(**fields))


@pytest.mark.parametrize("reply", [WHOLE, to_objects(WHOLE), [*CHUNKS, LAST], iter(to_objects([*CHUNKS, LAST]))])
async def test_client_with_create_alone_is_read(reply):
    asked = {}

    def create(**body: object) -> object:
        asked.update(body)
        return reply

    heard = Heard()
    assert (await complete_with(only_create(create), listener=heard)).text == "two stops"
    assert "".join(heard.texts) == "two stops"
    assert (asked["model"], asked["messages"]) == ("m1", [{"role": "user", "content": "hi"}])


async def test_async_client_with_create_alone_is_read():
    async def stream():
        for chunk in [*CHUNKS, LAST]:
            yield chunk

    async def create(**body: object) -> object:
        return stream() if body["stream"] else WHOLE

    client = only_create(create)
    assert (await complete_with(client)).text == "two stops"
    assert (await complete_with(client, stream=False)).text == "two stops"


async def test_stream_of_objects_that_ends_early_is_no_reply():
    failure = await failure_of(only_create(lambda **_: iter(CHUNKS)))
    assert (str(failure), failure.partial.text) == (
        "client `my_llm`: the stream ended before the reply was complete",
        "two stops",
    )


async def test_exception_that_no_client_has_is_not_retried():
    def create(**_: object) -> object:
        raise KeyError("deployment")

    failure = await failure_of(only_create(create))
    assert (str(failure), failure.retryable) == ("client `my_llm`: the client raised KeyError: 'deployment'", False)

"""One request and its reply over a real socket: what arrives, how it is split, and what goes wrong."""

import asyncio
import contextlib
import json
import subprocess
import sys

import pytest

from stepsnb.llm import Choice, RequestFailed
from stepsnb.messages import Message, system, tool_result, user

from .conftest import ADD_STOP, DONE, Heard, delta, event

HI = [system("Be brief."), user("Name an inlet.")]

H05 = [
    b": waiting\r\n\r\n"
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Fj"}}],"usage":null}\r\n\r\n',
    b": waiting\r\n\r\n"
    b'data: {"choices":[{"index":0,"delta":{"content":"ord"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":0,"completion_tokens":0}}\r\n\r\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":31,"completion_tokens":4}}\r\n\r\n',
    b"data: [DONE]\r\n\r\n",
]


async def test_stream_with_keep_alives_crlf_and_usage_at_the_end(wire_server, open_chat):
    wire_server.streams(*H05)
    reply = await open_chat().complete(HI)
    assert (reply.text, reply.finish_reason) == ("Fjord", "stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (31, 4)


async def test_stream_written_byte_by_byte_is_the_same(wire_server, open_chat):
    text = "Tromsø 東京 🚢"
    whole = delta(content=text) + delta("stop") + DONE
    wire_server.streams(*(whole[at : at + 1] for at in range(len(whole))))
    heard = Heard()
    reply = await open_chat().complete(HI, listener=heard)
    assert reply.text == text == "".join(heard.texts)


async def test_listener_hears_text_while_it_arrives(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"), 30.0)
    heard = Heard()
    task = asyncio.create_task(open_chat().complete(HI, listener=heard))
    async with asyncio.timeout(5):
        while heard.texts != ["Fj"]:
            await asyncio.sleep(0.01)
    assert not task.done()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_thinking_is_heard_apart_from_text(wire_server, open_chat):
    wire_server.streams(delta(reasoning_content="hm"), delta(content="ok"), delta("stop"), DONE)
    heard = Heard()
    reply = await open_chat().complete(HI, listener=heard)
    assert (reply.thinking, reply.text, heard.thoughts, heard.texts) == ("hm", "ok", ["hm"], ["ok"])


async def test_streamed_tool_call_is_whole_and_has_no_text(wire_server, open_chat):
    begun = {"index": 0, "id": "c1", "type": "function", "function": {"name": "add_stop", "arguments": ""}}
    wire_server.streams(
        delta(role="assistant", content=None, tool_calls=[begun]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": '{"stop":'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ' "Quay"}'}}]),
        delta("tool_calls"),
        DONE,
    )
    reply = await open_chat(ADD_STOP).complete(HI)
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [("c1", "add_stop", '{"stop": "Quay"}')]
    assert (reply.text, reply.finish_reason) == (None, "tool_calls")


async def test_plain_json_is_accepted_where_a_stream_was_asked_for(wire_server, open_chat):
    message = {"role": "assistant", "content": "Fjord"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage, "model": "m1-b"}
    wire_server.says(200, b"\n\n " + json.dumps(body).encode())
    heard = Heard()
    reply = await open_chat().complete(HI, listener=heard)
    assert (reply.text, reply.usage.output_tokens, reply.model, heard.texts) == ("Fjord", 2, "m1-b", ["Fjord"])


async def test_stream_is_accepted_where_plain_json_was_asked_for(wire_server, open_chat):
    wire_server.streams(delta(content="Fjord"), delta("stop"), DONE)
    reply = await open_chat(stream=False).complete(HI)
    assert reply.text == "Fjord"
    assert "stream_options" not in wire_server.requests[0].json()


async def test_reply_says_how_long_it_took(wire_server, open_chat):
    wire_server.streams(0.05, delta(content="a"), 0.05, delta("stop"), DONE)
    reply = await open_chat().complete(HI)
    assert 0.04 < reply.first_token_s < reply.latency_s < 5
    assert reply.latency_s > 0.09


async def test_end_without_done_is_whole_when_the_reply_said_why_it_ended(wire_server, open_chat):
    wire_server.streams(delta(content="Fjord"), delta("stop"))
    assert (await open_chat().complete(HI)).text == "Fjord"


async def test_connection_lost_after_the_reply_ended_is_no_failure(wire_server, open_chat):
    wire_server.streams(delta(content="Fjord"), delta("stop"), is_cut=True)
    assert (await open_chat().complete(HI)).text == "Fjord"


async def test_server_that_holds_the_stream_open_after_done_is_not_waited_for(wire_server, open_chat, monkeypatch):
    monkeypatch.setattr("stepsnb.llm.connection.LINGER_S", 0.05)
    wire_server.streams(delta(content="Fjord"), delta("stop"), DONE, 30.0)
    async with asyncio.timeout(5):
        assert (await open_chat().complete(HI)).text == "Fjord"
        assert await asyncio.to_thread(wire_server.client_left.wait, 3)


async def test_stream_that_ends_before_the_reply_is_an_error_that_keeps_it(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"))
    with pytest.raises(RequestFailed) as caught:
        await open_chat().complete(HI)
    assert str(caught.value) == (f"endpoint `{wire_server.base_url}`: the stream ended before the reply was complete")
    assert caught.value.retryable
    assert caught.value.partial.text == "Fj"
    assert caught.value.latency_s > 0


async def test_stream_that_ends_in_the_middle_of_an_event_is_cut_not_malformed(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"), b'data: {"choices":[{"ind')
    with pytest.raises(RequestFailed, match="the stream ended before the reply was complete"):
        await open_chat().complete(HI)


async def test_empty_stream_has_no_partial_reply(wire_server, open_chat):
    wire_server.streams(b": nothing\n\n", DONE)
    with pytest.raises(RequestFailed, match="the stream ended before") as caught:
        await open_chat().complete(HI)
    assert caught.value.partial is None


async def test_connection_lost_in_the_middle_keeps_what_came(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"), is_cut=True)
    with pytest.raises(RequestFailed, match="the connection was lost before the reply was complete") as caught:
        await open_chat().complete(HI)
    assert (caught.value.retryable, caught.value.partial.text) == (True, "Fj")


async def test_connection_closed_without_a_response_is_an_error(wire_server, open_chat):
    wire_server.answers(None)
    with pytest.raises(RequestFailed, match="the connection was lost") as caught:
        await open_chat().complete(HI)
    assert (caught.value.status, caught.value.retryable, caught.value.partial) == (None, True, None)


async def test_malformed_chunk_is_an_error_with_an_excerpt(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"), b"data: {oops\x1b[31m\n\n", delta("stop"), DONE)
    with pytest.raises(RequestFailed, match=r"no chat completion \(.*\): \{oops \[31m$") as caught:
        await open_chat().complete(HI)
    assert caught.value.partial.text == "Fj"


async def test_error_object_inside_a_stream_is_an_error(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"), event({"error": {"message": "upstream fell over", "code": 502}}))
    with pytest.raises(RequestFailed, match="failed while replying: upstream fell over") as caught:
        await open_chat().complete(HI)
    assert (caught.value.status, caught.value.retryable, caught.value.partial.text) == (502, True, "Fj")


async def test_error_object_in_a_good_response_is_an_error(wire_server, open_chat):
    wire_server.says(200, {"error": {"message": "no such model", "code": 404}})
    with pytest.raises(RequestFailed, match="no such model") as caught:
        await open_chat().complete(HI)
    assert (caught.value.status, caught.value.retryable) == (404, False)


async def test_web_page_is_no_reply(wire_server, open_chat):
    wire_server.says(200, b"<!doctype html><p>Welcome")
    with pytest.raises(RequestFailed, match=r"answered text/html, not a chat completion; does .* end in the API's ver"):
        await open_chat().complete(HI)


async def test_reply_without_choices_is_no_reply(wire_server, open_chat):
    wire_server.says(200, {"choices": []})
    with pytest.raises(RequestFailed, match="not a chat completion"):
        await open_chat().complete(HI)


async def test_event_stream_without_a_single_event_is_a_lost_reply(open_chat, wire_server):
    wire_server.streams()
    with pytest.raises(RequestFailed, match="the stream ended before the reply was complete") as caught:
        await open_chat().complete([user("hi")])
    assert caught.value.retryable


@pytest.mark.parametrize("body", [b"", b" \n\n"])
async def test_empty_body_is_a_lost_reply(wire_server, open_chat, body):
    wire_server.says(200, body)
    with pytest.raises(RequestFailed, match="not a chat completion with nothing in it") as caught:
        await open_chat().complete(HI)
    assert caught.value.retryable


async def test_web_page_is_no_lost_reply(wire_server, open_chat):
    wire_server.says(200, b"<html>")
    with pytest.raises(RequestFailed, match="not a chat completion; does") as caught:
        await open_chat().complete(HI)
    assert not caught.value.retryable


async def test_cancelling_closes_the_connection_at_once(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"), 30.0)
    task = asyncio.create_task(open_chat().complete(HI))
    while not wire_server.requests:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(wire_server.client_left.wait, 2)


async def test_one_connection_serves_a_whole_conversation(wire_server, open_chat):
    chat = open_chat()
    history = list(HI)
    for word in ("one", "two", "three"):
        wire_server.streams(delta(content=word), delta("stop"), DONE)
        reply = await chat.complete(history)
        history += [Message(role="assistant", content=reply.text), user("next")]
    assert wire_server.connections == 1


async def test_each_request_holds_the_whole_history_in_order(wire_server, open_chat):
    chat = open_chat(ADD_STOP)
    call = {"index": 0, "id": "c1", "function": {"name": "add_stop", "arguments": '{"stop": "Quay"}'}}
    wire_server.streams(delta("tool_calls", tool_calls=[call]), DONE)
    wire_server.streams(delta(content="Done."), delta("stop"), DONE)
    reply = await chat.complete(HI)
    asked = Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls)
    await chat.complete([*HI, asked, tool_result(reply.tool_calls[0], "added")])
    first, second = (request.json()["messages"] for request in wire_server.requests)
    assert (
        second[:2] == first == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": HI[1].content}]
    )
    assert second[2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "add_stop", "arguments": '{"stop": "Quay"}'}}
            ],
        },
        {"role": "tool", "content": "added", "tool_call_id": "c1"},
    ]


async def test_call_id_that_the_conversation_has_already_is_replaced(wire_server, open_chat):
    chat = open_chat(ADD_STOP)
    call = {"index": 0, "id": "c1", "function": {"name": "add_stop", "arguments": "{}"}}
    for _ in range(2):
        wire_server.streams(delta("tool_calls", tool_calls=[call]), DONE)
    first = await chat.complete(HI)
    asked = Message(role="assistant", tool_calls=first.tool_calls)
    second = await chat.complete([*HI, asked, tool_result(first.tool_calls[0], "ok")])
    assert first.tool_calls[0].id == "c1"
    assert second.tool_calls[0].id != "c1"


async def test_rewritten_history_is_sent_anew_after_the_cache_is_dropped(wire_server, open_chat):
    chat = open_chat()
    for _ in range(2):
        wire_server.streams(delta(content="x"), delta("stop"), DONE)
    await chat.complete(HI)
    chat.drop_cache()
    await chat.complete([user("A summary."), user("Go on.")])
    sent = [message["content"] for message in wire_server.requests[1].json()["messages"]]
    assert sent == ["A summary.", "Go on."]


async def test_dials_are_sent_only_when_set(wire_server, open_chat):
    for _ in range(2):
        wire_server.streams(delta(content="x"), delta("stop"), DONE)
    await open_chat().complete(HI)
    await open_chat(temperature=0.0, top_p=0.5, max_tokens=9, reasoning_effort="low").complete(HI)
    plain, dialled = (request.json() for request in wire_server.requests)
    assert set(plain) == {"model", "stream", "stream_options", "messages"}
    assert (plain["model"], plain["stream"], plain["stream_options"]) == ("m1", True, {"include_usage": True})
    dials = {key: dialled[key] for key in set(dialled) - set(plain)}
    assert dials == {"temperature": 0.0, "top_p": 0.5, "max_tokens": 9, "reasoning_effort": "low"}


async def test_openai_takes_max_completion_tokens(wire_server, open_chat):
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    await open_chat(provider="openai", max_tokens=9).complete(HI)
    sent = wire_server.requests[0].json()
    assert sent["max_completion_tokens"] == 9
    assert "max_tokens" not in sent


async def test_key_goes_out_as_bearer_and_without_the_line_break_of_a_file(wire_server, open_chat, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-1\n")
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    await open_chat(api_key_env="MY_KEY").complete(HI, Choice())
    assert wire_server.requests[0].headers["authorization"] == "Bearer sk-1"
    assert wire_server.requests[0].headers["host"] == f"127.0.0.1:{wire_server.port}"


def test_completion_imports_no_openai_and_no_pandas(wire_server):
    wire_server.streams(delta(content="x"), delta("stop"), DONE)
    program = f"""
import asyncio, sys
from stepsnb.llm import ModelClient, Target
from stepsnb.messages import user
light = {{"httpx", "yaml", "pydantic"}} & set(sys.modules)
target = Target(provider="endpoint", model="m", label="m", base_url={wire_server.base_url!r}, asks_server=False)
asyncio.run(ModelClient(target).open([]).complete([user("hi")]))
print(sorted(light), sorted({{"openai", "pandas", "genai_prices", "duckdb"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[] []", "")

"""Replies as servers write them, byte for byte: splits, keep-alives, and what is missing at the end."""

import json

import pytest

from stepsnb.llm import RequestFailed
from stepsnb.messages import Mark, Message, user
from tests.llm.conftest import ADD_STOP, DONE, Heard, delta, event

from .conftest import USAGE, call_piece, calls, words

GO = [user("Go.")]
TEXT = "Tromsø 東京 🚢"


def in_bytes(*events):
    whole = b"".join(events)
    return [whole[at : at + 1] for at in range(len(whole))]


def crlf(*events):
    return [event.replace(b"\n", b"\r\n") for event in events]


@pytest.mark.parametrize(
    "steps",
    [
        in_bytes(*words(TEXT)),
        in_bytes(*crlf(*words(TEXT))),
        crlf(*words(TEXT)),
        [b": waiting\n\n", *words(*TEXT), b": waiting\n\n"],
        [b": waiting\r\n", b"\r\n", *crlf(*words(TEXT))],
        [b"".join(words(TEXT))],
    ],
    ids=["bytes", "bytes-crlf", "crlf", "keep-alives", "keep-alive-crlf", "one-write"],
)
async def test_text_is_the_same_however_it_is_written(wire_server, open_chat, steps):
    wire_server.streams(*steps)
    heard = Heard()
    reply = await open_chat().complete(GO, listener=heard)
    assert reply.text == "".join(heard.texts) == TEXT
    assert (reply.usage.prompt_tokens, reply.usage.output_tokens, reply.marks) == (9, 3, ())


async def test_character_split_between_two_writes_is_whole(wire_server, open_chat):
    whole = b'data: {"choices":[{"index":0,"delta":{"content":"\xf0\x9f\x9a\xa2"},"finish_reason":"stop"}]}\n\n'
    at = whole.index(b"\x9f")
    wire_server.streams(whole[:at], 0.02, whole[at:], USAGE, DONE)
    assert (await open_chat().complete(GO)).text == "🚢"


async def test_broken_arguments_split_in_bytes_are_mended(wire_server, open_chat):
    wire_server.streams(*in_bytes(*crlf(*calls(call_piece("add_stop", '{"stop": "Tromsø\n🚢",}')))))
    reply = await open_chat(ADD_STOP).complete(GO)
    assert [json.loads(call.arguments) for call in reply.tool_calls] == [{"stop": "Tromsø\n🚢"}]
    assert reply.marks == (Mark.REPAIRED,)


async def test_stream_closed_inside_an_event_keeps_what_came_as_it_came(wire_server, open_chat):
    text = '<tool_call>{"name": "add_stop", "arguments": {"stop": "a"}}</tool_call>'
    wire_server.streams(delta(content=text), b'data: {"choices":[{"ind', is_cut=True)
    with pytest.raises(RequestFailed) as caught:
        await open_chat(ADD_STOP).complete(GO)
    assert caught.value.retryable
    assert (caught.value.partial.text, caught.value.partial.tool_calls) == (text, ())


async def test_error_object_inside_a_good_stream_is_an_error(wire_server, open_chat):
    wire_server.streams(delta(content="Fj"), event({"error": {"message": "upstream fell over", "code": 503}}), DONE)
    with pytest.raises(RequestFailed, match="failed while replying: upstream fell over") as caught:
        await open_chat().complete(GO)
    assert (caught.value.status, caught.value.partial.text) == (503, "Fj")


async def test_null_error_is_none(wire_server, open_chat):
    wire_server.streams(event({"error": None, "choices": [{"delta": {"content": "a"}}]}), *words("b"))
    assert (await open_chat().complete(GO)).text == "ab"


async def test_stream_without_a_finish_reason_is_whole_when_it_says_done(wire_server, open_chat):
    wire_server.streams(delta(content="Fjord"), USAGE, DONE)
    reply = await open_chat().complete(GO)
    assert (reply.text, reply.finish_reason, reply.marks) == ("Fjord", None, (Mark.NO_FINISH_REASON,))


async def test_stream_without_a_finish_reason_and_done_is_cut_short(wire_server, open_chat):
    wire_server.streams(delta(content="Fjord"), USAGE)
    with pytest.raises(RequestFailed, match="the stream ended before the reply was complete"):
        await open_chat().complete(GO)


async def test_missing_usage_is_marked(wire_server, open_chat):
    wire_server.streams(delta(content="Fjord"), delta("stop"), DONE)
    reply = await open_chat().complete(GO)
    assert (reply.usage, reply.marks) == (None, (Mark.NO_USAGE,))


@pytest.mark.parametrize("texts", [(), ("",), (" \n",)])
async def test_reply_without_text_and_call_is_marked_empty(wire_server, open_chat, texts):
    wire_server.streams(*words(*texts))
    assert (await open_chat().complete(GO)).marks == (Mark.EMPTY,)


async def test_thinking_alone_is_an_empty_reply(wire_server, open_chat):
    wire_server.streams(delta(reasoning_content="hm"), *words())
    reply = await open_chat().complete(GO)
    assert (reply.text, reply.thinking, reply.marks) == (None, "hm", (Mark.EMPTY,))


async def test_reply_cut_by_the_output_limit_is_marked(wire_server, open_chat):
    wire_server.streams(*words("Fj", finish_reason="length"))
    assert (await open_chat().complete(GO)).marks == (Mark.TRUNCATED,)


@pytest.mark.parametrize("content", [None, ""])
def test_no_text_and_empty_text_beside_a_call_go_back_as_they_came(wire_server, run, content):
    wire_server.streams(delta(content=content), *calls(call_piece("tick", "{}"))).streams(*words("Done."))
    run(tick=lambda: "tock")
    asked = wire_server.requests[1].json()["messages"][-2]
    assert (asked["role"], asked["content"]) == ("assistant", content)


def test_thinking_is_shown_and_neither_text_nor_sent_back(wire_server, run):
    thought = delta(reasoning_content="secret plan")
    wire_server.streams(thought, *calls(call_piece("tick", "{}"))).streams(thought, *words("Done."))
    result = run(tick=lambda: "tock")
    assert result.text == "Done."
    assert [event.thinking for event in result.events if event.kind == "turn_finished"] == ["secret plan"] * 2
    assert b"secret plan" not in wire_server.requests[1].body


async def test_json_reply_that_is_fenced_is_mended_and_marked(wire_server, open_chat):
    wire_server.streams(*words('```json\n{"tool": "add_stop", "arguments": {"stop": "Quay",}}\n```'))
    reply = await open_chat(ADD_STOP, tool_mode="json").complete(GO)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("add_stop", '{"stop": "Quay"}')]
    assert reply.marks == (Mark.REPAIRED,)


async def test_json_reply_that_is_right_is_not_marked(wire_server, open_chat):
    wire_server.streams(*words('{"tool": "add_stop", "arguments": {"stop":  "Quay"}}'))
    reply = await open_chat(ADD_STOP, tool_mode="json").complete(GO)
    assert ([call.arguments for call in reply.tool_calls], reply.marks) == (['{"stop":  "Quay"}'], ())


async def test_json_call_that_was_cut_says_so(wire_server, open_chat):
    wire_server.streams(*words('{"tool": "add_stop", "arguments": {"stop": "Qu', finish_reason="length"))
    reply = await open_chat(ADD_STOP, tool_mode="json").complete(GO)
    assert [(call.arguments, call.repaired) for call in reply.tool_calls] == [('{"stop": "Qu"}', True)]
    assert (reply.finish_reason, reply.marks) == ("length", (Mark.REPAIRED, Mark.TRUNCATED))


async def test_unreadable_call_of_the_history_goes_out_as_json_in_json_mode(wire_server, open_chat):
    broken = call_piece("add_stop", "no {")
    wire_server.streams(*calls(broken)).streams(*words('{"answer": "ok"}'))
    chat = open_chat(ADD_STOP, tool_mode="json")
    reply = await chat.complete(GO)
    await chat.complete([*GO, Message(role="assistant", tool_calls=reply.tool_calls), user("Well?")])
    told = json.loads(wire_server.requests[1].json()["messages"][-2]["content"])
    assert told == {"tool": "add_stop", "arguments": {"unreadable_arguments": "no {"}}

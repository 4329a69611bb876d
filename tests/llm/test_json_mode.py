"""Conversations with models that cannot call tools, as they go over the wire."""

import json

import pytest

from stepsnb.llm import Choice, ModelClient, ToolSpec
from stepsnb.llm.json_mode import describe_tools
from stepsnb.llm.local import stop_servers
from stepsnb.messages import Message, ToolCall, system, tool_result, user

from .conftest import ADD_STOP, DONE, Heard, build_target, delta

CALL = ToolCall(id="c1", name="add_stop", arguments='{"stop": "Quay"}')


def sent(wire_server, number=0):
    return wire_server.requests[number].json()


def reply(wire_server, text, finish_reason="stop"):
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    wire_server.streams(*(delta(content=piece) for piece in pieces), delta(finish_reason), DONE)


async def test_tools_are_described_in_the_system_message_and_not_sent(wire_server, open_chat):
    reply(wire_server, '{"answer": "ok"}')
    await open_chat(ADD_STOP, tool_mode="json").complete([system("Be brief."), user("Go.")])
    body = sent(wire_server)
    assert "tools" not in body
    assert "tool_choice" not in body
    assert body["messages"][0]["content"].startswith("Be brief.\n\nReply with one JSON object and nothing else.\n")
    assert body["messages"][0]["content"].endswith("Tools:\n- add_stop(stop: string): Add a stop.")
    assert body["messages"][1] == {"role": "user", "content": "Go."}


async def test_without_a_system_message_one_is_made(wire_server, open_chat):
    reply(wire_server, '{"answer": "ok"}')
    await open_chat(ADD_STOP, tool_mode="json").complete([user("Go.")])
    assert [message["role"] for message in sent(wire_server)["messages"]] == ["system", "user"]


async def test_reply_is_held_to_a_schema(wire_server, open_chat):
    reply(wire_server, '{"tool": "add_stop", "arguments": {"stop": "Quay"}}')
    choice = Choice(tools=("add_stop",), must_call=True, arguments={"add_stop": {"stop": ["Quay", "Pier"]}})
    answer = await open_chat(ADD_STOP, tool_mode="json").complete([user("Go.")], choice)
    form = sent(wire_server)["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    properties = form["json_schema"]["schema"]["properties"]
    assert properties["tool"] == {"const": "add_stop"}
    assert properties["arguments"]["properties"]["stop"] == {"enum": ["Quay", "Pier"]}
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("add_stop", '{"stop": "Quay"}')]
    assert (answer.text, answer.finish_reason) == (None, "tool_calls")


async def test_answer_is_heard_while_it_arrives_and_calls_are_not(wire_server, open_chat):
    chat = open_chat(ADD_STOP, tool_mode="json")
    heard = Heard()
    reply(wire_server, '{"tool": "add_stop", "arguments": {"stop": "Quay"}}')
    await chat.complete([user("Go.")], listener=heard)
    assert heard.texts == []
    reply(wire_server, '{"answer": "The stop is there now."}')
    answer = await chat.complete([user("Go.")], listener=heard)
    assert answer.text == "".join(heard.texts) == "The stop is there now."
    assert len(heard.texts) > 2


async def test_calls_results_and_answers_are_told_as_plain_messages(wire_server, open_chat):
    reply(wire_server, '{"answer": "ok"}')
    history = [
        system("s"),
        user("Go."),
        Message(role="assistant", tool_calls=(CALL,)),
        tool_result(CALL, "added"),
        Message(role="assistant", content='Say "hi".'),
        user("More."),
    ]
    await open_chat(ADD_STOP, tool_mode="json").complete(history)
    told = [(message["role"], message["content"]) for message in sent(wire_server)["messages"][2:]]
    assert told == [
        ("assistant", '{"tool":"add_stop","arguments":{"stop":"Quay"}}'),
        ("user", "Result of add_stop: added"),
        ("assistant", '{"answer":"Say \\"hi\\"."}'),
        ("user", "More."),
    ]


async def test_results_and_messages_that_follow_each_other_go_out_as_one(wire_server, open_chat):
    chat = open_chat(ADD_STOP, tool_mode="json")
    second = ToolCall(id="c2", name="add_stop", arguments='{"stop": "Pier"}')
    history = [
        user("Go."),
        Message(role="assistant", tool_calls=(CALL, second)),
        tool_result(CALL, "added"),
        tool_result(second, "there already"),
    ]
    reply(wire_server, '{"answer": ""}')
    await chat.complete(history)
    reply(wire_server, '{"answer": "ok"}')
    await chat.complete([*history, user("Your reply was empty.")])
    before, after = (sent(wire_server, number)["messages"] for number in range(2))
    assert [message["role"] for message in after] == ["system", "user", "assistant", "user"]
    assert before[:-1] == after[:-1]
    assert before[-1]["content"] == "Result of add_stop: added\n\nResult of add_stop: there already"
    assert after[-1]["content"] == before[-1]["content"] + "\n\nYour reply was empty."


async def test_first_messages_of_the_user_become_one_behind_what_is_said_of_tools(wire_server, open_chat):
    reply(wire_server, '{"answer": "ok"}')
    await open_chat(ADD_STOP, tool_mode="json").complete([user("A summary."), user("Go.")])
    told, asked = sent(wire_server)["messages"]
    assert (told["role"], asked) == ("system", {"role": "user", "content": "A summary.\n\nGo."})


async def test_reply_cut_by_the_token_limit_is_left_to_the_loop(wire_server, open_chat):
    chat = open_chat(ADD_STOP, tool_mode="json", max_tokens=9)
    reply(wire_server, '{"tool": "add_stop", "argu', "length")
    cut = await chat.complete([user("Go.")])
    assert (cut.text, cut.tool_calls, cut.finish_reason) == (None, (), "length")
    reply(wire_server, '{"answer": "It was', "length")
    cut = await chat.complete([user("Go.")])
    assert (cut.text, cut.finish_reason) == ("It was", "length")


async def test_without_tools_the_conversation_is_a_plain_one(wire_server, open_chat):
    reply(wire_server, "Just words.")
    answer = await open_chat(tool_mode="json").complete([system("s"), user("Go.")])
    assert "response_format" not in sent(wire_server)
    assert sent(wire_server)["messages"][0] == {"role": "system", "content": "s"}
    assert answer.text == "Just words."


async def test_native_call_of_a_server_that_knows_better_is_taken(wire_server, open_chat):
    call = {"index": 0, "id": "c9", "function": {"name": "add_stop", "arguments": "{}"}}
    wire_server.streams(delta(content=""), delta("tool_calls", tool_calls=[call]), DONE)
    answer = await open_chat(ADD_STOP, tool_mode="json").complete([user("Go.")])
    assert [call.id for call in answer.tool_calls] == ["c9"]


def test_description_is_compact():
    properties = {
        "path": {"type": "string"},
        "mode": {"enum": ["a", "b"]},
        "lines": {"type": "array", "items": {"type": "integer"}},
        "size": {"type": ["integer", "null"]},
        "any": True,
    }
    tool = ToolSpec("t", "First\nwords.\n\nLong story.", {"properties": properties, "required": ["path"]})
    assert describe_tools([tool]).splitlines()[-1] == (
        '- t(path: string, mode?: "a"|"b", lines?: [integer], size?: integer|null, any?: any): First words.'
    )
    long = describe_tools([ToolSpec("t", "word " * 200, {})]).splitlines()[-1]
    assert len(long) < 330
    assert long.endswith("…")


@pytest.mark.local_model
async def test_real_model_that_cannot_call_tools_calls_one_and_then_answers():
    target = build_target("", provider="local", model="smollm2", tool_mode="json", max_tokens=60)
    client = ModelClient(target)
    history = [user("Add the stop Quay.")]
    try:
        chat = client.open([ADD_STOP])
        choice = Choice(tools=("add_stop",), must_call=True, arguments={"add_stop": {"stop": ["Quay"]}})
        called = await chat.complete(history, choice)
        (call,) = called.tool_calls
        assert (call.name, json.loads(call.arguments)) == ("add_stop", {"stop": "Quay"})
        assert called.usage.prompt_tokens > 0
        heard = Heard()
        history += [Message(role="assistant", tool_calls=called.tool_calls), tool_result(call, "added")]
        answered = await chat.complete(history, Choice(may_call=False), heard)
        assert answered.text
        assert answered.text == "".join(heard.texts)
        assert await client.context_window() == 8192
    finally:
        stop_servers()

"""What the API of one provider is particular about, as bytes; and that no other is sent it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.llm import PROVIDERS
from stepsnb.llm.chat import build_head
from stepsnb.llm.wire import encode_message
from stepsnb.messages import Message, ToolCall, tool_result, user

from .conftest import ADD_STOP, DONE, build_target, delta

CALL = ToolCall(id="call_5f0c", name="add_stop", arguments='{"stop":"Bergen"}')
ASKED = Message(role="assistant", content="I look.", thinking="Where is it?", tool_calls=(CALL,))

PLAIN_CALL = {
    "id": "call_5f0c",
    "type": "function",
    "function": {"name": "add_stop", "arguments": '{"stop":"Bergen"}'},
}


def written(message: Message, provider: str) -> dict:
    return json.loads(encode_message(message, PROVIDERS[provider]))


@pytest.mark.parametrize("provider", sorted(set(PROVIDERS) - {"deepseek", "google", "mistral"}))
def test_most_providers_get_the_plain_form(provider):
    assert written(ASKED, provider) == {"role": "assistant", "content": "I look.", "tool_calls": [PLAIN_CALL]}


def test_deepseek_gets_the_thinking_before_calls_back():
    assert written(ASKED, "deepseek")["reasoning_content"] == "Where is it?"


def test_deepseek_gets_an_empty_thinking_where_a_call_had_none():
    assert written(Message(role="assistant", tool_calls=(CALL,)), "deepseek")["reasoning_content"] == ""


def test_deepseek_gets_no_thinking_of_a_reply_without_calls():
    assert written(Message(role="assistant", content="Bergen.", thinking="Easy."), "deepseek") == {
        "role": "assistant",
        "content": "Bergen.",
    }


def test_google_gets_the_signature_of_a_call_back():
    signature = {"google": {"thought_signature": "c2ln"}}
    signed = Message(role="assistant", tool_calls=(ToolCall("c1", "add_stop", "{}", signature=signature),))
    assert written(signed, "google")["tool_calls"][0]["extra_content"] == signature


def test_google_is_told_to_skip_the_signature_of_a_call_that_it_did_not_make():
    calls = (CALL, ToolCall("c2", "add_stop", "{}"))
    first, second = written(Message(role="assistant", tool_calls=calls), "google")["tool_calls"]
    assert first["extra_content"]["google"]["thought_signature"] == "skip_thought_signature_validator"
    assert "extra_content" not in second


async def test_signature_of_a_streamed_call_is_kept(wire_server, open_chat):
    piece = {"index": 0, "id": "c1", "function": {"name": "add_stop", "arguments": '{"stop":"a"}'}}
    signature = {"google": {"thought_signature": "c2ln"}}
    wire_server.streams(delta(tool_calls=[{**piece, "extra_content": signature}]), delta("tool_calls"), DONE)
    reply = await open_chat(ADD_STOP).complete([user("go")])
    assert reply.tool_calls[0].signature == signature


def test_mistral_gets_ids_of_nine_letters_and_digits_alike_in_call_and_result():
    call = written(ASKED, "mistral")["tool_calls"][0]
    result = written(tool_result(CALL, "added"), "mistral")
    assert call["id"] == result["tool_call_id"]
    assert len(call["id"]) == 9
    assert call["id"].isalnum()


@given(st.text(), st.text())
def test_ids_for_mistral_are_stable_and_differ(first, second):
    ids = [written(tool_result(ToolCall(each, "t", "{}"), ""), "mistral")["tool_call_id"] for each in (first, second)]
    assert all(len(each) == 9 and each.isascii() and each.isalnum() for each in ids)
    assert (ids[0] == ids[1]) == (first == second)


def test_id_in_mistrals_own_form_stays_as_it_is():
    assert written(tool_result(ToolCall("aB3dE6gH9", "t", "{}"), ""), "mistral")["tool_call_id"] == "aB3dE6gH9"


def roles(request) -> list[str]:
    return [message["role"] for message in request.json()["messages"]]


HISTORY = [user("go"), ASKED, tool_result(CALL, "added"), user("Hurry.", synthetic=True)]


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("mistral", ["user", "assistant", "tool", "assistant", "user"]),
        ("openai", ["user", "assistant", "tool", "user"]),
    ],
)
async def test_user_speaks_behind_a_tool_only_where_that_is_taken(wire_server, open_chat, provider, expected):
    wire_server.streams(delta(content="ok"), delta("stop"), DONE)
    await open_chat(ADD_STOP, provider=provider).complete(HISTORY)
    assert roles(wire_server.requests[0]) == expected


async def test_word_between_comes_once_when_the_history_grows(wire_server, open_chat):
    for _ in range(2):
        wire_server.streams(delta(content="ok"), delta("stop"), DONE)
    chat = open_chat(ADD_STOP, provider="mistral")
    await chat.complete(HISTORY[:3])
    await chat.complete(HISTORY)
    assert roles(wire_server.requests[0]) == ["user", "assistant", "tool"]
    assert roles(wire_server.requests[1]) == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("provider", "head"),
    [
        ("mistral", {"max_tokens": 9}),
        ("groq", {"max_completion_tokens": 9, "stream_options": {"include_usage": True}}),
        ("anthropic", {"max_tokens": 9, "stream_options": {"include_usage": True}}),
        ("google", {"max_tokens": 9, "stream_options": {"include_usage": True}}),
        ("deepseek", {"max_tokens": 9, "stream_options": {"include_usage": True}}),
    ],
)
def test_request_has_the_keys_its_provider_knows(provider, head):
    built = json.loads(build_head(build_target(provider=provider, max_tokens=9)) + b"]}")
    assert built == {"model": "m1", "stream": True, "messages": []} | head


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4.5", "~anthropic/claude-opus-latest"])
def test_cache_is_marked_for_models_of_anthropic_at_openrouter(model):
    assert json.loads(build_head(build_target(provider="openrouter", model=model)) + b"]}")["cache_control"] == {
        "type": "ephemeral"
    }


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openrouter", "openai/gpt-5.4"),
        ("openrouter", "x/anthropic/claude"),
        ("openrouter", "anthropic-like/m"),
        ("endpoint", "anthropic/claude-sonnet-4.5"),
        ("anthropic", "anthropic/claude"),
    ],
)
def test_cache_is_marked_nowhere_else(provider, model):
    assert "cache_control" not in json.loads(build_head(build_target(provider=provider, model=model)) + b"]}")

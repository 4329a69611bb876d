"""The history as bytes: each message once, and what the provider said kept exactly."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.llm.wire import HistoryBytes, encode_message
from stepsnb.messages import Message, ToolCall, system, tool_result, user

CALL = ToolCall(id="c1", name="add", arguments='{"a": 1}')


class Counting:
    """An encoder that counts how often it was asked."""

    def __init__(self):
        self.count = 0

    def __call__(self, message, *, is_first):
        self.count += 1
        return encode_message(message)


def decoded(data):
    return [message["content"] for message in json.loads(b"[" + bytes(data) + b"]")]


def test_each_message_is_encoded_once():
    encode = Counting()
    kept = HistoryBytes(encode)
    history = [system("s")]
    for number in range(50):
        history.append(user(str(number)))
        kept.extend_to(history)
    assert encode.count == 51
    assert decoded(kept.extend_to(history)) == ["s", *map(str, range(50))]


def test_replaced_history_is_noticed():
    kept = HistoryBytes(Counting())
    kept.extend_to([user("a"), user("b")])
    assert decoded(kept.extend_to([user("c")])) == ["c"]
    assert decoded(kept.extend_to([user("d"), user("e")])) == ["d", "e"]


def test_dropping_forgets_bytes_and_call_ids():
    kept = HistoryBytes(Counting())
    kept.extend_to([user("a"), Message(role="assistant", tool_calls=(CALL,))])
    assert kept.call_ids == {"c1"}
    kept.drop()
    assert decoded(kept.extend_to([user("b")])) == ["b"]
    assert kept.call_ids == set()


def test_no_text_goes_out_as_null_and_empty_text_as_empty():
    assert json.loads(encode_message(Message(role="assistant", content=None, tool_calls=(CALL,))))["content"] is None
    assert json.loads(encode_message(Message(role="assistant", content="")))["content"] == ""


def test_thinking_is_never_sent_back():
    message = Message(role="assistant", content="a", thinking="secret plan")
    assert json.loads(encode_message(message)) == {"role": "assistant", "content": "a"}


def sent_arguments(arguments):
    message = Message(role="assistant", tool_calls=(ToolCall(id="c1", name="add", arguments=arguments),))
    return json.loads(encode_message(message))["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize("arguments", ["", " ", "null"])
def test_missing_arguments_go_out_as_an_empty_object(arguments):
    assert sent_arguments(arguments) == "{}"


@pytest.mark.parametrize("arguments", ['{"a" b}', "[1]", '{"a": NaN}', '{"a": "\\d"}', "{" * 100_000])
def test_unreadable_arguments_go_out_as_text_inside_an_object(arguments):
    assert json.loads(sent_arguments(arguments)) == {"unreadable_arguments": arguments}


@given(st.text())
def test_arguments_in_a_history_are_always_a_json_object(arguments):
    assert isinstance(json.loads(sent_arguments(arguments)), dict)


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.booleans())
def test_valid_arguments_go_out_byte_for_byte(value, is_ascii):
    arguments = json.dumps(value, ensure_ascii=is_ascii)
    assert sent_arguments(arguments) == arguments


def test_result_names_its_call():
    wire = {"role": "tool", "content": "3", "tool_call_id": "c1"}
    assert json.loads(encode_message(tool_result(CALL, "3"))) == wire


def test_half_a_character_in_a_text_does_not_stop_the_request():
    message = Message(role="assistant", content="ok \udce9", tool_calls=(CALL,))
    assert json.loads(encode_message(message))["content"] == "ok ?"


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=5))
def test_bytes_that_grew_are_those_of_the_whole(steps):
    grown, history = HistoryBytes(Counting()), []
    for step in steps:
        history = history + [user(text) for text in step]
        grown.extend_to(history)
    assert grown.extend_to(history) == HistoryBytes(Counting()).extend_to(history)


@given(st.lists(st.lists(st.sampled_from(["user", "assistant"]), max_size=4), max_size=5))
def test_bytes_that_grew_by_joined_messages_are_those_of_the_whole(steps):
    def tell(message):
        return message

    grown, history = HistoryBytes(Counting(), tell), []
    for step in steps:
        history = history + [Message(role=role, content=str(len(history) + n)) for n, role in enumerate(step)]
        grown.extend_to(history)
    sent = grown.extend_to(history)
    assert sent == HistoryBytes(Counting(), tell).extend_to(history)
    roles = [message["role"] for message in json.loads(b"[" + bytes(sent) + b"]")]
    assert ("user", "user") not in pairwise(roles)

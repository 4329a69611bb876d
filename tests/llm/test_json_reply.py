"""Replies of json mode: calls, answers, and what a cut one still holds."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.llm.json_reply import AnswerStream, read_json_reply

from .conftest import Heard


def stream(*pieces):
    heard = Heard()
    answers = AnswerStream(heard)
    for piece in pieces:
        answers.text(piece)
    return heard.texts


def test_call_keeps_its_arguments_as_written():
    text, calls, reason = read_json_reply('{"tool": "add", "arguments": {"a": 1,  "b": "x"}}', "stop")
    assert (text, reason) == (None, "tool_calls")
    assert [(call.name, call.arguments) for call in calls] == [("add", '{"a": 1,  "b": "x"}')]
    assert calls[0].id.startswith("call_")


def test_call_without_arguments_has_none():
    assert read_json_reply('{"tool": "list_sheets"}', "stop")[1][0].arguments == "{}"


def test_answer_is_the_text():
    assert read_json_reply(' {"answer": "It is \\"so\\"."}\n', "stop") == ('It is "so".', (), "stop")


def test_fenced_reply_is_read():
    assert read_json_reply('```json\n{"answer": "a"}\n```', "stop")[0] == "a"


@pytest.mark.parametrize("text", ["Just words.", '{"other": 1}', "{broken", '{"answer": 5}'])
def test_text_that_is_no_such_object_is_the_answer_as_it_stands(text):
    assert read_json_reply(text, "stop") == (text, (), "stop")


def test_cut_answer_keeps_what_came():
    assert read_json_reply('{"answer": "It was a lo\\', "length") == ("It was a lo", (), "length")


@pytest.mark.parametrize("text", ['{"tool": "write_file", "arguments": {"path": "a', '{"ans', "{"])
def test_cut_call_is_no_text_and_no_call(text):
    assert read_json_reply(text, "length") == (None, (), "length")


def test_answer_is_heard_piece_by_piece():
    assert stream('{"ans', 'wer": "It', " is", " so", '."}') == ["It", " is", " so", "."]


def test_call_is_not_heard():
    assert stream('{"tool": "write_file", "arg', 'uments": {"answer": "no"}}') == []


def test_plain_words_are_heard_as_they_come():
    assert stream("  ", "It", " is so.") == ["  It", " is so."]


def test_answer_that_is_no_string_is_not_heard():
    assert stream('{"answer": [1, 2]}') == []


def test_thinking_is_passed_on():
    heard = Heard()
    AnswerStream(heard).thinking("hm")
    assert heard.thoughts == ["hm"]


@pytest.mark.parametrize(
    ("escaped", "character"),
    [("\\ud83d\\udea2", "🚢"), ("\\u00e9", "é"), ("\\ud83d!", "\ufffd!"), ("\\udea2", "\ufffd"), ("\\/\\n", "/\n")],
)
def test_escapes_split_anywhere_are_decoded(escaped, character):
    whole = f'{{"answer":"{escaped}"}}'
    for cut in range(len(whole)):
        assert "".join(stream(whole[:cut], whole[cut:])) == character


@given(st.text(), st.booleans(), st.lists(st.integers(0, 300)))
def test_heard_answer_is_the_read_one(answer, is_ascii, cuts):
    whole = json.dumps({"answer": answer}, ensure_ascii=is_ascii)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = [whole[start:end] for start, end in itertools.pairwise(places)]
    assert "".join(stream(*pieces)) == answer == read_json_reply(whole, "stop")[0]

"""Replies of json mode: calls, answers, and what a cut one still holds."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.llm.assembly import Reading
from stepsnb.llm.json_reply import AnswerStream, read_json_reply

from .conftest import Heard


def stream(*pieces):
    heard = Heard()
    answers = AnswerStream(heard)
    for piece in pieces:
        answers.text(piece)
    return heard.texts


def test_call_keeps_its_arguments_as_written():
    text, calls, reason, _ = read_json_reply('{"tool": "add", "arguments": {"a": 1,  "b": "x"}}', "stop")
    assert (text, reason) == (None, "tool_calls")
    assert [(call.name, call.arguments) for call in calls] == [("add", '{"a": 1,  "b": "x"}')]
    assert calls[0].id.startswith("call_")


def test_call_without_arguments_has_none():
    assert read_json_reply('{"tool": "list_sheets"}', "stop")[1][0].arguments == "{}"


def test_answer_is_the_text():
    assert read_json_reply(' {"answer": "It is \\"so\\"."}\n', "stop") == Reading('It is "so".', (), "stop")


def test_fenced_reply_is_read():
    assert read_json_reply('```json\n{"answer": "a"}\n```', "stop")[0] == "a"


@pytest.mark.parametrize("text", ["Just words.", '{"other": 1}', "{broken", '{"answer": 5}'])
def test_text_that_is_no_such_object_is_the_answer_as_it_stands(text):
    assert read_json_reply(text, "stop") == Reading(text, (), "stop")


def test_cut_answer_keeps_what_came():
    assert read_json_reply('{"answer": "It was a lo\\', "length") == Reading("It was a lo", (), "length")


@pytest.mark.parametrize(
    "text", ['{"tool": "write_file", "arguments": {', '{"tool": "write_file", "argu', '{"tool": "wri', '{"ans', "{"]
)
def test_cut_call_without_arguments_is_no_text_and_no_call(text):
    assert read_json_reply(text, "length") == Reading(None, (), "length")


def test_cut_call_is_a_repaired_one_that_still_says_it_was_cut():
    cut = '{"tool": "write_file", "arguments": {"path": "a'
    reading = read_json_reply(cut, "length")
    (call,) = reading.calls
    assert (call.name, call.arguments, call.repaired, call.raw) == ("write_file", '{"path": "a"}', True, cut)
    assert (reading.text, reading.finish_reason, reading.is_mended) == (None, "length", True)


def test_slightly_broken_call_is_mended():
    reading = read_json_reply('{"tool": "add", "arguments": {"a": 1,},}', "stop")
    assert [(call.arguments, call.repaired) for call in reading.calls] == [('{"a": 1}', True)]
    assert (reading.finish_reason, reading.is_mended) == ("tool_calls", True)


def test_right_call_is_not_marked():
    reading = read_json_reply('{"tool": "add", "arguments": {"text": "{\\"a\\": 1,}"}}', "stop")
    assert [call.repaired for call in reading.calls] == [False]
    assert not reading.is_mended


@pytest.mark.parametrize("reason", ["stop", None])
def test_fenced_call_without_arguments_is_one(reason):
    reading = read_json_reply('```json\n{"tool": "list_sheets"}\n```', reason)
    assert [(call.name, call.arguments) for call in reading.calls] == [("list_sheets", "{}")]
    assert reading.is_mended


def test_answer_with_a_raw_line_break_is_mended():
    assert read_json_reply('{"answer": "one\ntwo"}', "stop") == Reading("one\ntwo", (), "stop", is_mended=True)


def test_words_around_an_object_are_an_answer():
    text = 'I would write {"tool": "add", "arguments": {"a": 1}} here.'
    assert read_json_reply(text, "stop") == Reading(text, (), "stop")


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

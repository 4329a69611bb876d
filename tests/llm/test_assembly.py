"""How the pieces of a reply become one: calls by index, by id, or by neither."""

import json

import pytest

from stepsnb.llm.assembly import Assembly
from stepsnb.llm.chunks import decode_chunk

TOOLS = ("add_stop", "list_sheets", "add", "stop")


def assemble(*pieces, tools=TOOLS, taken=(), listener=None):
    """Assemble tool call pieces, each a dict or a list of dicts that come in one delta."""
    assembly = Assembly(listener, tool_names=tools, taken_ids=taken)
    for piece in pieces:
        calls = piece if isinstance(piece, list) else [piece]
        feed(assembly, {"delta": {"tool_calls": calls}})
    return assembly.calls()


def feed(assembly, choice, **chunk):
    assembly.add(decode_chunk(json.dumps({"choices": [choice], **chunk}).encode()))


def function(name=None, arguments=None, **piece):
    return {**piece, "function": {"name": name, "arguments": arguments}}


def said(calls):
    return [(call.name, call.arguments) for call in calls]


def test_arguments_in_pieces_are_joined_by_index():
    calls = assemble(
        function("add_stop", "", index=0, id="a1"),
        function("add", "", index=1, id="b2"),
        function(arguments='{"stop"', index=0),
        function(arguments="{}", index=1),
        function(arguments=': "Quay"}', index=0),
    )
    assert said(calls) == [("add_stop", '{"stop": "Quay"}'), ("add", "{}")]
    assert [call.id for call in calls] == ["a1", "b2"]


def test_parallel_calls_that_share_index_0_stay_apart():
    calls = assemble(
        function("add_stop", '{"stop":"Pier 3"}', index=0, id="a1"),
        function("add_stop", '{"stop":', index=0, id="b2"),
        function(arguments='"Mill Rd"}', index=0),
        function("add_stop", '{"stop":"Quay"}', index=0),
    )
    assert said(calls) == [
        ("add_stop", '{"stop":"Pier 3"}'),
        ("add_stop", '{"stop":"Mill Rd"}'),
        ("add_stop", '{"stop":"Quay"}'),
    ]
    assert len({call.id for call in calls}) == 3


def test_name_repeated_with_each_piece_is_one_call():
    with_id = assemble(
        function("add_stop", '{"stop":', index=0, id="a1"), function("add_stop", ' "x"}', index=0, id="a1")
    )
    without = assemble(function("add_stop", '{"stop":', index=0), function("add_stop", ' "x"}', index=0))
    assert said(with_id) == said(without) == [("add_stop", '{"stop": "x"}')]


def test_name_in_pieces_is_joined():
    assert said(assemble(function("add_", index=0, id="a1"), function("stop", "{}", index=0))) == [("add_stop", "{}")]


def test_other_tools_name_without_an_id_begins_another_call():
    calls = assemble(function("list_sheets", "", index=0), function("add", "{}", index=0))
    assert said(calls) == [("list_sheets", ""), ("add", "{}")]


def test_id_made_up_for_each_piece_is_one_call():
    calls = assemble(
        function("add_stop", '{"stop":', index=0, id="x1"),
        function(arguments='"a', index=0, id="x2"),
        function(arguments='"}', index=0, id="x3"),
    )
    assert said(calls) == [("add_stop", '{"stop":"a"}')]
    assert calls[0].id == "x1"


def test_id_that_comes_after_the_name_is_kept():
    calls = assemble(function("add", "", index=0), function(arguments="{}", index=0, id="late"))
    assert [(call.id, call.name, call.arguments) for call in calls] == [("late", "add", "{}")]


def test_piece_with_a_known_id_goes_to_its_call():
    calls = assemble(
        function("add_stop", '{"stop":', index=0, id="a"),
        function("add_stop", '{"stop":', index=0, id="b"),
        function(arguments='"1"}', index=0, id="a"),
        function(arguments='"2"}', index=0, id="b"),
    )
    assert [json.loads(call.arguments)["stop"] for call in calls] == ["1", "2"]


def test_calls_without_index_and_id_in_one_delta_are_as_many_as_named():
    calls = assemble([function("list_sheets", ""), function("list_sheets", "")])
    assert said(calls) == [("list_sheets", "")] * 2
    assert calls[0].id != calls[1].id


def test_pieces_without_an_index_go_to_the_last_call():
    calls = assemble(function("add", '{"a":', id="a1"), function(arguments=" 1}"))
    assert said(calls) == [("add", '{"a": 1}')]


def test_missing_and_repeated_ids_are_replaced():
    calls = assemble(function("add", "{}", index=0, id=""), function("add", "{}", index=1, id="seen"), taken={"seen"})
    assert all(call.id.startswith("call_") for call in calls)
    assert calls[0].id != calls[1].id


def test_arguments_sent_as_an_object_become_text():
    calls = assemble(function("add", {"a": 1}, index=0, id=7))
    assert [(call.id, call.arguments, call.repaired) for call in calls] == [("7", '{"a":1}', True)]


def test_null_arguments_are_an_empty_text():
    assert said(assemble(function("list_sheets", None, index=0, id="a"))) == [("list_sheets", "")]


def test_replaced_ids_are_noted_once_and_for_all():
    assembly = Assembly(tool_names=TOOLS)
    feed(assembly, {"delta": {"tool_calls": [function("add", "{}", index=0), function("add", "{}", index=1, id="b")]}})
    first = assembly.calls()
    assert assembly.has_replaced_ids
    assert assembly.calls() == first


def test_ids_that_are_right_are_kept():
    assembly = Assembly(tool_names=TOOLS)
    feed(assembly, {"delta": {"tool_calls": [function("add", "{}", index=0, id="a")]}})
    assert [call.id for call in assembly.calls()] == ["a"]
    assert not assembly.has_replaced_ids


@pytest.mark.parametrize(("content", "text"), [(None, None), ("", ""), ("x", "x"), ([{"text": "a"}, {}], "a")])
def test_no_text_is_not_an_empty_text(content, text):
    assembly = Assembly()
    feed(assembly, {"message": {"role": "assistant", "content": content}})
    assert assembly.text == text


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_both_spellings_of_thinking_are_heard(key):
    assembly = Assembly()
    feed(assembly, {"delta": {key: "hm"}})
    assert (assembly.thinking, assembly.text) == ("hm", None)


def test_refusal_is_the_text():
    assembly = Assembly()
    feed(assembly, {"delta": {"content": None, "refusal": "I cannot."}})
    assert assembly.text == "I cannot."


def test_running_usage_counts_once():
    assembly = Assembly()
    for counts in ({"prompt_tokens": 31, "completion_tokens": 1}, {"prompt_tokens": 31, "completion_tokens": 4}, None):
        feed(assembly, {"delta": {}}, usage=counts)
    feed(assembly, {"delta": {}}, usage={"prompt_tokens": 0, "completion_tokens": 0})
    assert (assembly.usage.prompt_tokens, assembly.usage.output_tokens) == (31, 4)


def test_other_alternatives_are_not_read():
    assembly = Assembly()
    feed(assembly, {"index": 1, "delta": {"content": "no"}})
    assert assembly.text is None


@pytest.mark.parametrize("error", [None, "", {}, False, 0])
def test_empty_error_of_a_good_chunk_is_none(error):
    assembly = Assembly()
    assembly.add(decode_chunk(json.dumps({"choices": [{"index": 0, "delta": {"content": "x"}}], "error": error})))
    assert (assembly.text, assembly.error) == ("x", None)

"""Calls repaired by their tool's schema, and what marks them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.llm import ToolSpec
from stepsnb.llm.repair_calls import CallRepairer
from stepsnb.messages import ToolCall

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}}
PLOT = ToolSpec(
    "plot",
    "Plot.",
    {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "points": {"type": "array", "items": POINT},
            "style": {"anyOf": [{"type": "object"}, {"type": "null"}]},
            "where": {"$ref": "#/$defs/Point"},
            "label": {"anyOf": [{"type": "string"}, {"type": "array"}]},
            "free": {},
        },
        "$defs": {"Point": POINT},
    },
)


def repair(arguments, *, is_cut=False, **fields):
    call = ToolCall(id="c1", name="plot", arguments=arguments, **fields)
    return CallRepairer([PLOT]).repair(call, is_cut=is_cut)


@pytest.mark.parametrize(
    ("name", "value"), [("points", [{"x": 1}]), ("style", {"color": "red"}), ("where", {"x": 2}), ("points", [])]
)
def test_list_or_object_sent_as_text_is_decoded(name, value):
    sent = json.dumps({name: json.dumps(value), "title": "t"})
    call = repair(sent)
    assert json.loads(call.arguments) == {name: value, "title": "t"}
    assert (call.repaired, call.raw) == (True, sent)


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "42"},
        {"title": '{"x": 1}'},
        {"label": "[1]"},
        {"free": "[1]"},
        {"points": "not a list"},
        {"points": '{"x": 1}'},
        {"where": "[1]"},
        {"unknown": "[1]"},
        {"points": [{"x": 1}]},
    ],
)
def test_text_that_may_be_meant_stays_byte_for_byte(arguments):
    sent = json.dumps(arguments, indent=1)
    assert repair(sent) == ToolCall(id="c1", name="plot", arguments=sent)


def test_repaired_call_keeps_what_was_sent():
    call = repair('{"title": "a",}')
    assert (call.arguments, call.repaired, call.raw) == ('{"title": "a"}', True, '{"title": "a",}')


def test_call_that_cannot_be_repaired_stays_as_it_came():
    assert repair('{"title": "a" b}') == ToolCall(id="c1", name="plot", arguments='{"title": "a" b}')


def test_missing_arguments_are_empty_and_not_marked():
    assert repair("") == ToolCall(id="c1", name="plot", arguments="{}")


def test_arguments_that_were_cut_before_they_began_are_not_empty_ones():
    assert repair("", is_cut=True).arguments == ""


def test_cut_arguments_are_closed_and_marked():
    call = repair('{"title": "a lo', is_cut=True)
    assert (json.loads(call.arguments), call.repaired) == ({"title": "a lo"}, True)


@given(st.text() | st.from_regex(r'\A\{"title": .{0,30}\}\Z'))
def test_repairing_twice_is_repairing_once(arguments):
    once = repair(arguments)
    assert CallRepairer([PLOT]).repair(once) == once

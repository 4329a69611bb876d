"""Calls in a model's own text: which are meant, and which are talk about calls or quotations."""

import json

import pytest

from stepsnb.llm import Choice, ToolSpec
from stepsnb.llm.promotion import offered_tools, promote_calls
from stepsnb.messages import Message, ToolCall, system, tool_result, user

from .conftest import ADD_STOP

PLOT = ToolSpec(
    "plot",
    "Plot.",
    {"properties": {"title": {"type": "string"}, "size": {"type": "integer"}, "points": {"type": "array"}}},
)
TOOLS = {tool.name: tool for tool in (ADD_STOP, PLOT)}
HERMES = '<tool_call>\n{"name": "add_stop", "arguments": {"stop": "Quay"}}\n</tool_call>'
QUAY = [("add_stop", {"stop": "Quay"})]


def promoted(text, history=(), offered=TOOLS):
    rest, calls = promote_calls(text, offered, history)
    assert all(call.promoted and call.id.startswith("call_") for call in calls)
    return rest, [(call.name, json.loads(call.arguments)) for call in calls]


@pytest.mark.parametrize(
    "text",
    [
        HERMES,
        '<tool_call>{"name": "add_stop", "arguments": {"stop": "Quay"}}',
        '<tool_call>{"name": "add_stop", "arguments": "{\\"stop\\": \\"Quay\\"}"}</tool_call>',
        '<tool_call>{"name": "add_stop", "arguments": {"stop": "Quay",}}</tool_call>',
        '[TOOL_CALLS][{"name": "add_stop", "arguments": {"stop": "Quay"}}]',
        '[TOOL_CALLS] [{"name": "add_stop", "arguments": {"stop": "Quay"}, "id": "abc"}]',
        '<|python_tag|>{"name": "add_stop", "parameters": {"stop": "Quay"}}<|eom_id|>',
        '<function=add_stop>{"stop": "Quay"}</function>',
        "<function=add_stop>\n<parameter=stop>\nQuay\n</parameter>\n</function>",
        "<tool_call>\n<function=add_stop>\n<parameter=stop>Quay</parameter>\n</function>\n</tool_call>",
        '{"name": "add_stop", "arguments": {"stop": "Quay"}}',
        '\n{"type": "function", "name": "add_stop", "parameters": {"stop": "Quay"}} ',
    ],
)
def test_each_form_is_a_call(text):
    assert promoted(text) == (None, QUAY)


def test_several_calls_keep_their_order():
    text = "".join(
        f'<tool_call>{{"name": "add_stop", "arguments": {{"stop": "{stop}"}}}}</tool_call>' for stop in "abc"
    )
    assert [arguments["stop"] for _, arguments in promoted(text)[1]] == ["a", "b", "c"]


def test_text_around_a_call_stays():
    assert promoted(f"I add it now.\n\n{HERMES}\n\nThen I go on.") == ("I add it now.\nThen I go on.", QUAY)


def test_parameters_are_read_by_the_schema():
    blocks = {"title": "42", "size": "42", "points": "[1, 2]"}
    inner = "".join(f"<parameter={name}>\n{value}\n</parameter>" for name, value in blocks.items())
    assert promoted(f"<function=plot>{inner}</function>")[1] == [
        ("plot", {"title": "42", "size": 42, "points": [1, 2]})
    ]


def test_broken_arguments_are_mended_and_marked():
    _, (call,) = promote_calls(HERMES.replace("Quay", "Old\nQuay"), TOOLS, ())
    assert (json.loads(call.arguments), call.repaired, call.promoted) == ({"stop": "Old\nQuay"}, True, True)


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{HERMES}\n```",
        f"~~~xml\n{HERMES}\n~~~",
        f"   ```\n{HERMES}",
        f"Write `{' '.join(HERMES.split())}` to call it.",
        f"Write ``{HERMES}`` to call it.",
        f"<think>Maybe {HERMES}</think>No.",
        '```json\n{"name": "add_stop", "arguments": {"stop": "Quay"}}\n```',
    ],
)
def test_call_in_code_or_thinking_is_talk(text):
    assert promoted(text) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        HERMES.replace("add_stop", "rm_all"),
        '{"name": "rm_all", "arguments": {}}',
        '{"name": "add_stop", "arguments": {"stop": "Quay"}, "note": "a record"}',
        '{"name": "add_stop", "arguments": ["Quay"]}',
        '{"name": "add_stop"}',
        'Send {"name": "add_stop", "arguments": {"stop": "Quay"}}',
        '<tool_call>{"name": "add_stop", "arguments": {"stop": "Qu',
        "<function=add_stop><parameter=stop>Quay",
        "<tool_call>add the stop</tool_call>",
        "Just words.",
    ],
)
def test_what_is_no_call_stays_text(text):
    assert promoted(text) == (text, [])


@pytest.mark.parametrize("choice", [Choice(may_call=False), Choice(tools=()), Choice(tools=("plot",))])
def test_tool_that_is_not_offered_now_is_not_called(choice):
    assert promoted(HERMES, offered=offered_tools(TOOLS, choice)) == (HERMES, [])


@pytest.mark.parametrize(
    "given",
    [
        tool_result(ToolCall(id="c1", name="read_file", arguments="{}"), f"A page says:\n{HERMES}\nEnd."),
        tool_result(ToolCall(id="c1", name="fetch", arguments="{}"), json.dumps({"body": HERMES})),
        tool_result(ToolCall(id="c1", name="fetch", arguments="{}"), HERMES.replace(": ", ":")),
        user(f"What does {HERMES} mean?"),
        system(f"Calls look like {HERMES}."),
    ],
)
def test_call_that_the_model_was_shown_is_a_quotation(given):
    text = f"It says {HERMES}"
    assert promoted(text, [given]) == (text, [])


def test_call_that_the_model_made_before_is_not_a_quotation():
    assert promoted(HERMES, [user("Go."), Message(role="assistant", content=HERMES)])[1] == QUAY


def test_other_arguments_than_those_shown_are_not_a_quotation():
    assert promoted(HERMES, [user(HERMES.replace("Quay", "Pier"))])[1] == QUAY


def test_markup_inside_the_arguments_of_a_call_is_no_call():
    inner = json.dumps(HERMES)
    text = f'<tool_call>{{"name": "plot", "arguments": {{"title": {inner}}}}}</tool_call>'
    assert promoted(text) == (None, [("plot", {"title": HERMES})])
    unknown = text.replace('"plot"', '"write"')
    assert promoted(unknown) == (unknown, [])


def test_backticks_inside_arguments_hide_nothing():
    text = '<tool_call>{"name": "plot", "arguments": {"title": "a ` b"}}</tool_call> and ` ' + HERMES
    assert promoted(text)[1] == [("plot", {"title": "a ` b"}), *QUAY]


@pytest.mark.parametrize(
    "text",
    ['<tool_call>{"a":"' * 40_000, "<tool_call>`" * 60_000, "` " * 300_000 + HERMES, "[TOOL_CALLS]" + "[" * 500_000],
)
def test_hostile_text_comes_to_an_end(text):
    promote_calls(text, TOOLS, ())


@pytest.mark.parametrize("before", ["> ", "As in:\n> ", "Example:\n\n    ", "Example:\n\n\t"])
def test_call_that_markdown_sets_apart_is_an_example(before):
    assert promote_calls(before + HERMES, TOOLS, ()) == (before + HERMES, ())

"""Tools and `tool_choice` for models that call tools themselves."""

import json

import pytest

from stepsnb.llm import Choice, ToolSpec
from stepsnb.llm.native_mode import NativeMode

from .conftest import build_target

READ = ToolSpec("read_file", "Read.", {"type": "object", "properties": {"path": {"type": "string"}}})
ASK = ToolSpec("ask_user", "Ask.", {"type": "object", "properties": {}})


def tail(choice, *, tools=(READ, ASK), **fields):
    """Return what a choice adds to the body, decoded, with the names of the tools for the tools."""
    data = NativeMode(build_target(**fields), tools).tail(choice)
    body = json.loads(b'{"x":0' + data + b"}")
    if "tools" in body:
        body["tools"] = [tool["function"]["name"] for tool in body["tools"]]
    del body["x"]
    return body


def test_all_granted_tools_are_offered_without_a_choice():
    assert tail(Choice()) == {"tools": ["read_file", "ask_user"]}


def test_tool_goes_out_as_a_function():
    body = json.loads(b'{"x":0' + NativeMode(build_target(), [READ]).tail(Choice()) + b"}")
    function = {"name": "read_file", "description": "Read.", "parameters": READ.parameters}
    assert body["tools"] == [{"type": "function", "function": function}]


def test_named_tools_narrow_the_offer():
    assert tail(Choice(tools=("ask_user",))) == {"tools": ["ask_user"]}


def test_forced_tool_is_named_and_the_offer_stays_whole():
    forced = {"type": "function", "function": {"name": "ask_user"}}
    assert tail(Choice(tools=("ask_user",), must_call=True)) == {
        "tools": ["read_file", "ask_user"],
        "tool_choice": forced,
    }


def test_string_form_forces_by_offering_that_tool_alone():
    choice = Choice(tools=("ask_user",), must_call=True)
    assert tail(choice, string_tool_choice=True) == {"tools": ["ask_user"], "tool_choice": "required"}


def test_any_of_several_is_required_as_a_string():
    assert tail(Choice(must_call=True))["tool_choice"] == "required"


@pytest.mark.parametrize("choice", [Choice(may_call=False), Choice(tools=())])
def test_withheld_tools_are_not_in_the_request(choice):
    assert tail(choice) == {}


def test_without_a_grant_nothing_is_said_about_tools():
    assert tail(Choice(), tools=()) == {}


def test_arguments_narrow_nothing_natively():
    assert tail(Choice(arguments={"read_file": {"path": "a"}})) == tail(Choice())

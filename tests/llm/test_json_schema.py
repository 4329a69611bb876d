"""The schema that holds a reply to one allowed call or an answer."""

import json

import jsonschema
import pytest

from stepsnb.llm import Choice, ToolSpec
from stepsnb.llm.json_schema import MAX_ITEMS, MAX_STRING, build_schema


def tool(name, properties, required=(), **more):
    return ToolSpec(name, f"{name}.", {"type": "object", "properties": properties, "required": [*required], **more})


TEXT = {"type": "string"}
READ = tool("read_file", {"path": TEXT}, ["path"])
WRITE = tool("write_file", {"path": TEXT, "content": TEXT, "append": {"type": "boolean"}}, ["path", "content"])
TOOLS = {"read_file": READ, "write_file": WRITE}


def allows(schema, reply):
    return jsonschema.Draft202012Validator(schema).is_valid(reply)


def call(name, **arguments):
    return {"tool": name, "arguments": arguments}


def test_reply_is_a_granted_call_or_an_answer():
    schema = build_schema(TOOLS, Choice(), None)
    assert allows(schema, call("read_file", path="a"))
    assert allows(schema, {"answer": "done"})
    assert not allows(schema, call("run_shell", command="ls"))
    assert not allows(schema, call("read_file"))
    assert not allows(schema, {"answer": "done", **call("read_file", path="a")})


def test_owed_tool_is_all_a_reply_can_be():
    schema = build_schema(TOOLS, Choice(tools=("write_file",), must_call=True), None)
    assert allows(schema, call("write_file", path="a", content="b"))
    assert not allows(schema, {"answer": "done"})
    assert not allows(schema, call("read_file", path="a"))


def test_withheld_tools_leave_the_answer():
    schema = build_schema(TOOLS, Choice(may_call=False), None)
    assert allows(schema, {"answer": "done"})
    assert not allows(schema, call("read_file", path="a"))


def test_narrowed_argument_has_only_the_allowed_values_and_must_be_given():
    choice = Choice(
        tools=("write_file",), must_call=True, arguments={"write_file": {"path": ["a", "b"], "append": True}}
    )
    schema = build_schema(TOOLS, choice, None)
    assert allows(schema, call("write_file", path="b", content="x", append=True))
    assert not allows(schema, call("write_file", path="c", content="x", append=True))
    assert not allows(schema, call("write_file", path="a", content="x"))
    assert "enum" not in json.dumps(WRITE.parameters)


def test_definitions_of_two_tools_with_one_name_stay_apart():
    first = tool("one", {"color": {"$ref": "#/$defs/Color"}}, ["color"], **{"$defs": {"Color": {"enum": ["red"]}}})
    second = tool("two", {"color": {"$ref": "#/$defs/Color"}}, ["color"], **{"$defs": {"Color": {"enum": ["blue"]}}})
    schema = build_schema({"one": first, "two": second}, Choice(), None)
    assert allows(schema, call("one", color="red"))
    assert not allows(schema, call("one", color="blue"))
    assert allows(schema, call("two", color="blue"))


def test_free_strings_are_bounded_by_the_tokens_there_are():
    schema = build_schema(TOOLS, Choice(tools=("write_file",), must_call=True), 400)
    properties = schema["properties"]["arguments"]["properties"]
    assert properties["path"]["maxLength"] == properties["content"]["maxLength"] == (400 - 40) // 2
    assert build_schema(TOOLS, Choice(may_call=False), 100)["properties"]["answer"]["maxLength"] == 60


def test_bound_leaves_given_values_alone_and_the_tools_schema_as_it_was():
    choice = Choice(tools=("write_file",), must_call=True, arguments={"write_file": {"path": "a.md"}})
    properties = build_schema(TOOLS, choice, 400)["properties"]["arguments"]["properties"]
    assert properties["path"] == {"const": "a.md"}
    assert properties["content"]["maxLength"] == 360
    assert "maxLength" not in json.dumps(WRITE.parameters)


@pytest.mark.parametrize("max_tokens", [1, 30, 100_000])
def test_bound_stays_within_what_a_server_takes(max_tokens):
    length = build_schema({}, Choice(), max_tokens)["properties"]["answer"]["maxLength"]
    assert 20 < length <= MAX_STRING < 2_000


def test_lists_are_bounded_too():
    lists = {"options": {"type": "array", "items": TEXT}, "who": {"anyOf": [TEXT, {"type": "null"}]}}
    ask = tool("ask", lists, list(lists))
    schema = build_schema({"ask": ask}, Choice(must_call=True), 400)
    properties = schema["properties"]["arguments"]["properties"]
    assert properties["options"]["maxItems"] == MAX_ITEMS
    assert properties["options"]["items"]["maxLength"] == properties["who"]["anyOf"][0]["maxLength"] == 360 // 9


def test_without_a_token_limit_nothing_is_bounded():
    assert "maxLength" not in json.dumps(build_schema(TOOLS, Choice(), None))


def test_owed_call_has_only_what_it_needs_and_no_empty_text():
    write = tool("write", {"path": TEXT, "content": TEXT, "append": {"type": "boolean"}}, ["path", "content"])
    schema = build_schema({"write": write}, Choice(must_call=True), None)
    assert allows(schema, call("write", path="a", content="b"))
    assert not allows(schema, call("write", path="a", content=""))
    assert not allows(schema, call("write", path="a", content="b", append=True))


def test_call_of_the_models_own_choice_keeps_what_is_optional():
    write = tool("write", {"path": TEXT, "append": {"type": "boolean"}}, ["path"])
    assert allows(build_schema({"write": write}, Choice(), None), call("write", path="", append=True))

"""Arguments of a server's tools: templates, and what the tool's schema makes of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.errors import ResourceError
from stepsnb.resources.arguments import fill_arguments


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def test_texts_are_templates_however_deep_they_stand():
    templates = {"query": {"where": ["{{ .source.place }}", "sea"]}}
    filled = fill_arguments(templates, {"source": {"place": "Bergen"}}, {})
    assert filled == {"query": {"where": ["Bergen", "sea"]}}


@pytest.mark.parametrize(
    ("wanted", "text", "value"),
    [
        ({"type": "integer"}, "12", 12),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number"}, "2", 2),
        ({"type": "boolean"}, "true", True),
        ({"type": "array", "items": {"type": "string"}}, '["a", "1"]', ["a", "1"]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["integer", "null"]}, "null", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "7", "7"),
        ({"type": "string"}, "12", "12"),
        ({}, "12", "12"),
        ({"$ref": "#/$defs/Count"}, "3", 3),
        ({"$ref": "#/$defs/Loop"}, "3", "3"),
        ({"$ref": "#/$defs/Gone"}, "3", "3"),
    ],
)
def test_text_becomes_what_the_tool_takes(wanted, text, value):
    given_schema = schema(x=wanted) | {"$defs": {"Count": {"type": "integer"}, "Loop": {"$ref": "#/$defs/Loop"}}}
    assert fill_arguments({"x": "{{ .params.x }}"}, {"params": {"x": text}}, given_schema) == {"x": value}


def test_parts_of_lists_and_mappings_become_what_the_tool_takes():
    wanted = schema(x={"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}})
    assert fill_arguments({"x": {"n": ["1", "2"], "more": "3"}}, {}, wanted) == {"x": {"n": [1, 2], "more": "3"}}


@pytest.mark.parametrize(
    ("kind", "text"), [("integer", "1.5"), ("integer", "true"), ("number", "NaN"), ("array", "a"), ("boolean", "1")]
)
def test_text_that_is_nothing_the_tool_takes_is_refused(kind, text):
    with pytest.raises(ResourceError, match=rf"`args\.x`: the tool wants {kind} there, not `{text}`"):
        fill_arguments({"x": text}, {}, schema(x={"type": kind}))


def test_template_that_gives_nothing_is_left_out_unless_it_is_needed():
    templates = {"since": '{{ .version.n | default "" }}', "text": "{{ .params.text }}", "empty": ""}
    wanted = schema(since={"type": "integer"}, text={"type": "string"}, empty={"type": "string"}, required=["text"])
    filled = fill_arguments(templates, {"version": {}, "params": {"text": ""}}, wanted)
    assert filled == {"text": "", "empty": ""}


@pytest.mark.parametrize(
    ("templates", "problem"),
    [
        ({"numbr": "1"}, r"unknown argument `numbr` \(did you mean `number`\?\); available: number, text"),
        ({"text": "a"}, r"it needs the argument `number`; give it under `args:`"),
        ({"number": "{{ .source.n }}"}, r"`args\.number`: .*there is no `\.source\.n`"),
    ],
)
def test_arguments_the_tool_does_not_take_are_refused(templates, problem):
    wanted = schema(number={"type": "integer"}, text={"type": "string"}, required=["number"])
    with pytest.raises(ResourceError, match=problem):
        fill_arguments(templates, {"source": {}}, wanted)


def test_tool_that_takes_more_than_it_lists_is_given_more():
    wanted = schema(a={"type": "string"}) | {"additionalProperties": True}
    assert fill_arguments({"b": "1"}, {}, wanted) == {"b": "1"}


@given(st.dictionaries(st.text("abc", min_size=1), st.integers() | st.booleans() | st.none() | st.lists(st.integers())))
def test_every_value_that_is_no_text_can_be_given_as_json(values):
    templates = {name: f"{{{{ .params.{name} | toJson }}}}" for name in values}
    wanted = {"properties": {name: {"type": ["integer", "boolean", "null", "array"]} for name in values}}
    assert fill_arguments(templates, {"params": values}, wanted) == values

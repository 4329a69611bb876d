import datetime as dt
import socket
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, RootModel

from stepsnb.config import OutputSpec
from stepsnb.errors import InputError
from stepsnb.tools import Tool, find_output, submit_output_tool
from stepsnb.tools.submit_output import OutputForm, form_of_model, form_of_schema

from .conftest import Call, error_of


class Ferry(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    leaves: dt.date
    decks: list[int]


FERRY = {"name": "Fjord", "leaves": "2026-05-01", "decks": [1, 2]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "decks": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name"],
}


class Taken:
    def __init__(self, form: OutputForm) -> None:
        self.values: list[tuple[object, str]] = []
        self.owed: str | None = None
        self.tool: Tool = submit_output_tool(
            form, on_output=lambda value, text: self.values.append((value, text)), refuse=lambda: self.owed
        )


async def test_model_is_made_of_what_is_handed_in(call: Call) -> None:
    taken = Taken(form_of_model(Ferry))
    assert (await call(taken.tool, **FERRY)).ok
    ferry = Ferry(name="Fjord", leaves=dt.date(2026, 5, 1), decks=[1, 2])
    assert taken.values == [(ferry, '{"name":"Fjord","leaves":"2026-05-01","decks":[1,2]}')]


async def test_schema_takes_the_object_itself(call: Call) -> None:
    taken = Taken(form_of_schema(SCHEMA))
    assert taken.tool.parameters == SCHEMA
    assert (await call(taken.tool, name="Fjord", decks=[1])).ok
    assert taken.values == [({"name": "Fjord", "decks": [1]}, '{"name":"Fjord","decks":[1]}')]


@pytest.mark.parametrize("form", [form_of_model(Ferry), form_of_schema(SCHEMA)])
async def test_wrong_value_is_told_with_its_place(call: Call, form: OutputForm) -> None:
    taken = Taken(form)
    message = error_of(await call(taken.tool, **{**FERRY, "decks": [1, "two"]}))
    assert message.startswith("the output was not taken: `decks[1]`: ")
    assert message.endswith("; mend it and hand in the whole of it again")
    assert taken.values == []


async def test_all_problems_are_told_and_long_ones_cut(call: Call) -> None:
    taken = Taken(form_of_schema(SCHEMA))
    message = error_of(await call(taken.tool, decks=["x" * 5_000, *range(3), *"abcdefghijkl"]))
    assert "'name' is a required property" in message
    assert "and 4 more" in message
    assert len(message) < 2_000


async def test_what_is_no_object_is_given_as_value(call: Call) -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/n"}}
    taken = Taken(form_of_schema(schema))
    assert taken.tool.parameters == {
        "$defs": {"n": {"type": "integer"}},
        "type": "object",
        "properties": {"value": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
        "required": ["value"],
        "additionalProperties": False,
    }
    assert "`[1]`: 'b' is not of type 'integer'" in error_of(await call(taken.tool, value=[1, "b"]))
    assert "give it as the one argument `value`" in error_of(await call(taken.tool, values=[1]))
    assert (await call(taken.tool, value=[1])).ok
    assert taken.values == [([1], "[1]")]


async def test_model_of_a_list_is_given_as_value(call: Call) -> None:
    taken = Taken(form_of_model(RootModel[list[int]]))
    assert (await call(taken.tool, value=[3])).ok
    assert taken.values == [(RootModel[list[int]]([3]), "[3]")]


class Folder(BaseModel):
    name: str
    inside: list["Folder"] = []


async def test_model_that_holds_itself_is_the_object_itself(call: Call) -> None:
    taken = Taken(form_of_model(Folder))
    assert list(taken.tool.parameters["properties"]) == ["name", "inside"]
    assert (await call(taken.tool, name="a", inside=[{"name": "b"}])).ok
    assert taken.values[0][0] == Folder(name="a", inside=[Folder(name="b")])


async def test_output_waits_for_what_is_owed(call: Call) -> None:
    taken = Taken(form_of_schema(SCHEMA))
    taken.owed = "`a.md` does not exist yet"
    assert error_of(await call(taken.tool, name="x")) == "`a.md` does not exist yet"
    assert taken.values == []


async def test_references_are_never_fetched(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("it went out")

    monkeypatch.setattr(socket, "getaddrinfo", connect)
    taken = Taken(form_of_schema({"type": "object", "properties": {"a": {"$ref": "http://example.org/a.json"}}}))
    assert "Unresolvable" in error_of(await call(taken.tool, a=1))


def test_schema_that_is_none_is_told() -> None:
    with pytest.raises(InputError) as caught:
        form_of_schema({"type": "object", "properties": {"a": {"type": "text"}}})
    assert str(caught.value).startswith("output: this is no JSON schema: 'text' is not valid")
    assert str(caught.value).endswith("at `properties.a.type`")


def test_output_of_a_pipeline_is_found() -> None:
    assert find_output(OutputSpec(schema=SCHEMA), {}).schema == SCHEMA
    assert list(find_output(OutputSpec(python="Ferry"), {"Ferry": Ferry}).schema["properties"]) == [
        "name",
        "leaves",
        "decks",
    ]


class Handle(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    file: socket.socket


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Fery",
            "unknown class `Fery` (did you mean `Ferry`?); available: Ferry, Handle, Plain; define it before the run",
        ),
        ("Plain", "output `Plain`: it is no pydantic model; derive it from `pydantic.BaseModel`"),
        ("sell", "output `sell`: `sell` is a value of type `function`, not a class"),
        ("Handle", "output `Handle`: a field has a type that JSON cannot carry (Cannot generate a JsonSchema for "),
        ("nowhere_at_all:Ferry", "output `nowhere_at_all:Ferry`: importing `nowhere_at_all` failed: "),
    ],
)
def test_output_that_is_no_model_is_told(name: str, message: str) -> None:
    classes: dict[str, Any] = {"Ferry": Ferry, "Plain": dict, "sell": form_of_model, "Handle": Handle}
    with pytest.raises(InputError) as caught:
        find_output(OutputSpec(python=name), classes)
    assert str(caught.value).startswith(message)

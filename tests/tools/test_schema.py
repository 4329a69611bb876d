from typing import Any

from pydantic import BaseModel, Field

from stepsnb.tools.schema import schema_of


class Leaf(BaseModel):
    """A leaf."""

    title: str = Field(description="Its title.")
    size: int | None = None


class Branch(BaseModel):
    default: Leaf
    leaves: dict[str, list[Leaf]] = {}
    label: str | int | None = None


class Node(BaseModel):
    children: list["Node"] = []


def test_references_titles_and_nulls_are_gone() -> None:
    leaf: dict[str, Any] = {
        "type": "object",
        "description": "A leaf.",
        "properties": {"title": {"type": "string", "description": "Its title."}, "size": {"type": "integer"}},
        "required": ["title"],
    }
    assert schema_of(Branch) == {
        "type": "object",
        "properties": {
            "default": leaf,
            "leaves": {"type": "object", "additionalProperties": {"type": "array", "items": leaf}, "default": {}},
            "label": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["default"],
    }


def test_model_that_holds_itself_keeps_its_references() -> None:
    schema = schema_of(Node)
    assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}

"""JSON schemas as models get them: of one piece, without what only pydantic reads."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

_REF = "#/$defs/"


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model's fields.

    References are replaced by what they name, as a schema may be put inside another; titles, null defaults and the
    null alternative of optional fields are left out, as they only cost tokens. A model that holds itself keeps its
    references.

    Raises: `pydantic.errors.PydanticUserError` for a field that has no JSON form.
    """
    schema = model.model_json_schema(by_alias=True, schema_generator=_Quiet)
    schema.pop("description", None)  # the model's docstring; a tool has a description of its own
    definitions: Mapping[str, Any] = schema.pop("$defs", {})
    if _is_recursive(definitions):
        return {**_plain(schema), "$defs": {name: _plain(part) for name, part in definitions.items()}}
    return dict(_plain(schema, definitions))


def without_pins(schema: Mapping[str, Any], pins: Collection[str]) -> dict[str, Any]:
    """Return the schema of a tool's arguments without those that are pinned."""
    properties = {name: part for name, part in schema.get("properties", {}).items() if name not in pins}
    required = [name for name in schema.get("required", ()) if name not in pins]
    rest = {key: part for key, part in schema.items() if key != "required"}
    return {**rest, "properties": properties, **({"required": required} if required else {})}


class _Quiet(GenerateJsonSchema):
    """Does without a warning what the default one warns of: it leaves out a default value that JSON cannot carry."""

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        pass


def _plain(node: Any, definitions: Mapping[str, Any] | None = None, *, holds_names: bool = False) -> Any:
    """Tidy one node; `holds_names` says that its keys are names of fields, not words of the schema."""
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if holds_names:
        return {name: _plain(part, definitions) for name, part in node.items()}
    node = dict(node)
    if definitions and "$ref" in node:
        node = {**definitions[node.pop("$ref").removeprefix(_REF)], **node}
    options = node.get("anyOf", [])
    if {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        del node["anyOf"]
        node = {**rest[0], **node} if len(rest) == 1 else {**node, "anyOf": rest}
        return _plain(node, definitions)
    if node.get("default", ...) is None:
        del node["default"]
    node.pop("title", None)
    literal = ("const", "default", "enum", "examples")
    return {
        key: part if key in literal else _plain(part, definitions, holds_names=key == "properties")
        for key, part in node.items()
    }


def _is_recursive(definitions: Mapping[str, Any]) -> bool:
    uses = {name: set(_refs(part)) for name, part in definitions.items()}
    left = set(uses)
    while ready := {name for name in left if not uses[name] & left}:
        left -= ready
    return bool(left)


def _refs(node: Any) -> list[str]:
    if isinstance(node, list):
        return [ref for item in node for ref in _refs(item)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].removeprefix(_REF)] if isinstance(node.get("$ref"), str) else []
    return own + [ref for part in node.values() for ref in _refs(part)]

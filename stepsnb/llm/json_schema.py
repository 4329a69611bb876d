"""The schema a reply has to follow in json mode, for one `Choice`."""

from collections.abc import Mapping, Sequence
from typing import Any

from .request import Choice, ToolSpec

CHARACTERS_PER_TOKEN = 1
"""Of JSON text: as few as a model that rambles in digits or capitals needs, so that a string closes in time."""

OVERHEAD_TOKENS = 40
"""Of a reply's own keys, braces and quotes, and of a tool's name."""

MIN_STRING = 24
MAX_STRING = 1_900
"""llama.cpp refuses, by version, grammars that repeat 2,000 times or more (its issues 17473 and 27087)."""

MAX_ITEMS = 8


def build_schema(tools: Mapping[str, ToolSpec], choice: Choice, max_tokens: int | None) -> dict[str, Any]:
    """Build the schema of a reply: one allowed tool with its arguments, or an answer.

    With `max_tokens` every free string is bounded, so that the reply of a model that rambles still ends in time.
    """
    names = tuple(tools) if choice.tools is None else choice.tools
    definitions: dict[str, Any] = {}
    branches = []
    if choice.may_call:
        for name in names:
            arguments = _narrowed(_hoisted(tools[name], definitions), choice.arguments.get(name, {}))
            if choice.must_call:
                arguments = _essential(arguments)
            branches.append(_object({"tool": {"const": name}, "arguments": arguments}))
    if not branches or not choice.must_call:
        branches.append(_object({"answer": {"type": "string"}}))
    if max_tokens is not None:
        budget = max((max_tokens - OVERHEAD_TOKENS) * CHARACTERS_PER_TOKEN, MIN_STRING)
        branches = [_bounded(branch, budget // max(_count_strings(branch), 1)) for branch in branches]
    schema: dict[str, Any] = branches[0] if len(branches) == 1 else {"anyOf": branches}
    if definitions:
        schema = {**schema, "$defs": definitions}
    return schema


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _narrowed(schema: dict[str, Any], allowed: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's schema in which the named arguments have only the allowed values, and must be given."""
    if not allowed:
        return schema
    properties = dict(schema.get("properties", {}))
    for name, values in allowed.items():
        properties[name] = {"enum": list(values)} if isinstance(values, list | tuple) else {"const": values}
    required = [*schema.get("required", ()), *(name for name in allowed if name not in schema.get("required", ()))]
    return {**schema, "properties": properties, "required": required}


def _essential(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a call that is owed: what may be left out is left out, and no text is empty.

    A small model fills what is optional with noise (a last line of 0, options such as `a_b_c`), and answers a
    demand for a file with an empty one for ever.
    """
    required = schema.get("required", ())
    properties = {name: value for name, value in schema.get("properties", {}).items() if name in required}
    for name, value in properties.items():
        if _is_free_string(value):
            properties[name] = {**value, "minLength": 1}
    return {**schema, "properties": properties, "additionalProperties": False}


def _hoisted(tool: ToolSpec, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's schema with its definitions moved to the root, where references look for them."""
    schema = {"type": "object", **tool.parameters}
    own = schema.pop("$defs", None) or schema.pop("definitions", None)
    if not own:
        return schema
    names = {key: f"{tool.name}.{key}" for key in own}
    for key, definition in own.items():
        definitions[names[key]] = _with_references(definition, names)
    moved: dict[str, Any] = _with_references(schema, names)
    return moved


def _with_references(schema: Any, names: Mapping[str, str]) -> Any:
    if isinstance(schema, list):
        return [_with_references(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: _with_references(value, names) for key, value in schema.items()}
    reference = changed.get("$ref")
    if isinstance(reference, str):
        changed["$ref"] = f"#/$defs/{names.get(reference.rpartition('/')[2], reference)}"
    return changed


def _is_free_string(schema: Any) -> bool:
    return (
        isinstance(schema, dict)
        and schema.get("type") == "string"
        and not any(key in schema for key in ("enum", "const", "maxLength", "pattern", "format"))
    )


def _children(schema: Mapping[str, Any]) -> Sequence[Any]:
    children = list(schema.get("properties", {}).values())
    for key in ("anyOf", "oneOf"):
        children.extend(schema.get(key, ()))
    if isinstance(schema.get("items"), dict):
        children.append(schema["items"])
    return children


def _count_strings(schema: Any) -> int:
    """Count the strings without a bound of their own that a value may hold."""
    if not isinstance(schema, dict):
        return 0
    times = min(schema.get("maxItems", MAX_ITEMS), MAX_ITEMS) if schema.get("type") == "array" else 1
    return int(_is_free_string(schema)) + times * sum(_count_strings(child) for child in _children(schema))


def _bounded(schema: Any, length: int) -> Any:
    """Return the schema with that bound on each free string, and a bound on each list."""
    if not isinstance(schema, dict):
        return schema
    bounded = dict(schema)
    if _is_free_string(schema):
        bounded["maxLength"] = min(max(length, MIN_STRING), MAX_STRING)
    if schema.get("type") == "array":
        bounded.setdefault("maxItems", MAX_ITEMS)
    if "properties" in schema:
        bounded["properties"] = {key: _bounded(value, length) for key, value in schema["properties"].items()}
    for key in ("anyOf", "oneOf"):
        if key in schema:
            bounded[key] = [_bounded(item, length) for item in schema[key]]
    if isinstance(schema.get("items"), dict):
        bounded["items"] = _bounded(schema["items"], length)
    return bounded

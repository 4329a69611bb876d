"""Repairs arguments by a tool's schema: lists and objects that were sent as the text of one are decoded."""

from collections.abc import Mapping
from typing import Any

import msgspec

Nested = Mapping[str, frozenset[str]]
"""The arguments that are `object` or `array`, or either, and never a string."""

_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_ANY = frozenset({"any"})
_MAX_REFERENCES = 20


def nested_arguments(parameters: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return which arguments of a tool are an object or a list and cannot be a string."""
    properties = parameters.get("properties")
    nested = {}
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        kinds = allowed_kinds(schema, parameters)
        if kinds & {"object", "array"} and not kinds & {"string", "any"}:
            nested[name] = kinds & {"object", "array"}
    return nested


def allowed_kinds(schema: Any, root: Mapping[str, Any]) -> frozenset[str]:
    """Return the JSON types that a schema inside `root` allows; `any` where it does not say so plainly."""
    return _kinds(schema, root, _MAX_REFERENCES)


def _kinds(schema: Any, root: Mapping[str, Any], references: int) -> frozenset[str]:
    if not isinstance(schema, dict) or references < 0:
        return _ANY
    if "$ref" in schema:
        place, _, name = str(schema["$ref"]).removeprefix("#/").partition("/")
        return _kinds(root.get(place, {}).get(name), root, references - 1)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return frozenset().union(*(_kinds(branch, root, references - 1) for branch in schema[key]))
    kinds: Any = schema.get("type")
    if isinstance(kinds, str):
        return frozenset({kinds})
    return frozenset(map(str, kinds)) if isinstance(kinds, list) else _ANY


def decode_nested(text: str, nested: Nested) -> str | None:
    """Return the arguments with the values decoded that are the text of what the schema wants; None without any.

    `text` is a valid JSON object. A value is decoded only where it is strict JSON of the kind that is wanted.
    """
    try:
        values = _decode_object(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    decoded = {
        name: value
        for name, kinds in nested.items()
        if name in values and (value := _decode_value(bytes(values[name]), kinds)) is not None
    }
    return msgspec.json.encode({**values, **decoded}).decode() if decoded else None


def _decode_value(raw: bytes, kinds: frozenset[str]) -> msgspec.Raw | None:
    if raw.lstrip()[:1] != b'"':
        return None
    try:
        inner: str = msgspec.json.decode(raw, type=str)
        value = msgspec.json.decode(inner)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    is_wanted = (isinstance(value, dict) and "object" in kinds) or (isinstance(value, list) and "array" in kinds)
    return msgspec.Raw(inner.strip().encode()) if is_wanted else None

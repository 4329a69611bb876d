"""The typed output of an agent step: a JSON Schema, or a pydantic model of the notebook."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from .conversions import bad_value, read_function_name, to_plain
from .tree import Entries, Items, Path, Scalar
from .wording import wrong_shape

_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """What an agent step hands in besides files: one of the two.

    `schema` is a JSON Schema of type object; `python` names a pydantic model, as `NAME` or `module:NAME`.
    """

    schema: dict[str, Any] | None = None
    python: str | None = None


def _read_output(raw: Any) -> Any:
    if isinstance(raw, Items | Scalar):
        raise bad_value(wrong_shape(raw, "a mapping"))
    if not isinstance(raw, Entries):
        return raw
    if "python" not in raw:
        return OutputSpec(schema=to_plain(raw))
    if len(raw) > 1:
        raise bad_value("has other keys beside `python:`; name a pydantic model, or write a JSON Schema")
    return OutputSpec(python=read_function_name(raw["python"], "pydantic model"))


Output = Annotated[OutputSpec, BeforeValidator(_read_output), WithJsonSchema({"type": "object", "minProperties": 1})]


def schema_complaints(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with a JSON Schema for an output, each with its place in it."""
    if schema.get("type") != "object":
        text = "`output:` must describe an object; write `type: object` and its `properties:`, or `python: NAME`"
        yield (), text
        return
    from jsonschema import Draft202012Validator  # here, as it takes long to import

    errors = sorted(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema), key=_place)
    for error in errors:
        what = error.message if len(error.message) <= _SHOWN_CHARACTERS else error.message[:_SHOWN_CHARACTERS] + "…"
        yield tuple(error.absolute_path), f"`output:` is no valid JSON Schema: {what}; see json-schema.org"
    for place in _foreign_references(schema):
        yield place, "a `$ref` of `output:` leads out of it, and nothing is fetched; write `#/$defs/NAME`"


def _foreign_references(part: object) -> Iterator[Path]:
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in entries:
        if key == "$ref" and isinstance(value, str) and not value.startswith("#"):
            yield (key,)
        for below in _foreign_references(value):
            yield (key, *below)


def _place(error: Any) -> str:
    return str(list(error.absolute_path))

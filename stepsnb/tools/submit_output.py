"""The tool `submit_output`: how a step hands in a value of a given form."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

from ..config import OutputSpec
from ..errors import InputError
from .base import Tool, ToolContext, ToolResult, to_json
from .builtin import description_of
from .find import Functions, find_class
from .schema import schema_of

SUBMIT_OUTPUT: Final = "submit_output"

_VALUE: Final = "value"
_TOLD_PROBLEMS = 10
_PROBLEM_CHARACTERS = 300


class WrongOutput(ValueError):
    """A value that has not the form asked for; the message names each place and what is wrong there."""


@dataclass(frozen=True, slots=True)
class OutputForm:
    """A form of value: its JSON schema, and `read`, which returns a value with its JSON, or raises WrongOutput."""

    schema: Mapping[str, Any]
    read: Callable[[Any], tuple[object, str]]


def find_output(spec: OutputSpec, functions: Functions) -> OutputForm:
    """Return the form that `output:` names: its JSON schema, or a pydantic model of the notebook.

    Raises: InputError for a schema that is none, and for a model that is not there.
    """
    if spec.python is None:
        return form_of_schema(spec.schema or {})
    model = find_class(spec.python, functions, where=f"output `{spec.python}`")
    if not issubclass(model, BaseModel):
        raise InputError(f"output `{spec.python}`: it is no pydantic model; derive it from `pydantic.BaseModel`")
    return form_of_model(model)


def form_of_model(model: type[BaseModel]) -> OutputForm:
    """Return the form of a pydantic model, whose values are its instances. Raises: InputError."""
    try:
        schema = _resolved(schema_of(model))
    except (PydanticUserError, PydanticUndefinedAnnotation) as exc:
        words = exc.message.splitlines()[0].rstrip(".")
        raise InputError(f"output `{model.__name__}`: a field has a type that JSON cannot carry ({words})") from exc

    def read(value: Any) -> tuple[object, str]:
        try:
            read_value = model.model_validate_json(json.dumps(value))  # as JSON, so that strict models take a date
        except ValidationError as exc:
            problems = ((error["loc"], error["msg"]) for error in exc.errors(include_url=False))
            raise WrongOutput(_told(problems)) from exc
        return read_value, read_value.model_dump_json(by_alias=True)

    return OutputForm(schema, read)


def form_of_schema(schema: Mapping[str, Any]) -> OutputForm:
    """Return the form of a JSON schema, of the draft its `$schema` names or else 2020-12. Raises: InputError."""
    from jsonschema import Draft202012Validator, SchemaError, validators
    from referencing import Registry

    kind = validators.validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as exc:
        raise InputError(f"output: this is no JSON schema: {exc.message} at `{_path(exc.absolute_path)}`") from exc
    checker = kind(schema, registry=Registry())  # with the default one a reference would be fetched from the web

    def read(value: Any) -> tuple[object, str]:
        problems = [(tuple(error.absolute_path), error.message) for error in checker.iter_errors(value)]
        if problems:
            raise WrongOutput(_told(iter(sorted(problems, key=lambda problem: list(map(str, problem[0]))))))
        return value, to_json(value)

    return OutputForm(schema, read)


def submit_output_tool(
    form: OutputForm, *, on_output: Callable[[object, str], None], refuse: Callable[[], str | None] = lambda: None
) -> Tool:
    """Build the tool; its arguments are the object asked for, or `value` with what is no object.

    Args:
        on_output: Told the value and its JSON; a later call counts instead of an earlier one.
        refuse: Says what has to be done before anything is handed in, None when nothing has.
    """
    is_object = form.schema.get("type") == "object"

    async def call(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        if (first := refuse()) is not None:
            return ToolResult.error(first)
        if not is_object and arguments.keys() != {_VALUE}:
            return ToolResult.error(f"the output was not taken: give it as the one argument `{_VALUE}`")
        try:
            value, text = form.read(arguments if is_object else arguments[_VALUE])
        except WrongOutput as exc:
            return ToolResult.error(f"the output was not taken: {exc}; mend it and hand in the whole of it again")
        on_output(value, text)
        return ToolResult.of({"recorded": True})

    return Tool(
        name=SUBMIT_OUTPUT,
        description=description_of(SUBMIT_OUTPUT),
        parameters=dict(form.schema) if is_object else _wrapped(form.schema),
        call=call,
    )


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Put the definition that a model which holds itself refers to in its place."""
    if "$ref" not in schema:
        return schema
    rest = {key: part for key, part in schema.items() if key != "$ref"}
    return {**schema["$defs"][schema["$ref"].rpartition("/")[2]], **rest}


def _wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Put a schema under `value`; what it refers to stays at the top, where `#/$defs/…` finds it."""
    shared = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
    inner = {key: part for key, part in schema.items() if key not in shared}
    return {
        **shared,
        "type": "object",
        "properties": {_VALUE: inner},
        "required": [_VALUE],
        "additionalProperties": False,
    }


def _told(problems: Iterator[tuple[Any, str]]) -> str:
    told = [f"`{_path(path)}`: {_short(message)}" if path else _short(message) for path, message in problems]
    more = len(told) - _TOLD_PROBLEMS
    return "; ".join(told[:_TOLD_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")


def _path(path: Any) -> str:
    """Write a place in a value as people do: `items[0].price`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def _short(message: str) -> str:
    message = message[:1].lower() + message[1:]
    return message if len(message) <= _PROBLEM_CHARACTERS else f"{message[:_PROBLEM_CHARACTERS]}…"

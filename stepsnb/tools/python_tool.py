"""Makes a Python function a tool: schema from type hints and docstring, result as text."""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, create_model
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

from ..effects import RetryPolicy
from ..errors import InputError
from ..settings import INLINE_OUTPUT_BYTES
from ..suggest import unknown_name
from .base import Tool, ToolContext, ToolResult
from .docstring import read_docstring
from .python_result import to_result
from .schema import schema_of, without_pins
from .workers import run_in_thread

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FORMS = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional only, and models pass arguments by name; remove the `/`",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of arguments; take one list instead",
    inspect.Parameter.VAR_KEYWORD: "takes arguments of any name; take one dict instead",
}


def python_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    required: bool = False,
    pins: Mapping[str, Any] | None = None,
    max_calls: int | None = None,
    max_output_bytes: int | None = None,
    policy: RetryPolicy | None = None,
) -> Tool:
    """Build a tool that calls `function`; `name` and `description` stand in for its own.

    A synchronous function runs in a thread that sees the caller's context variables, an asynchronous one on the
    loop. A parameter without a hint takes any JSON value; one the model leaves out has its default.

    Raises: InputError for a function whose parameters a model cannot give, and a pin of one that it has not.
    """
    written = _written(function)
    name = name or str(getattr(written, "__name__", type(written).__name__))
    if not _NAME.fullmatch(name):
        raise InputError(f"python tool `{name}`: a name is 1 to 64 letters, digits, `_` and `-`; rename the function")
    doc = read_docstring(inspect.getdoc(written) or "")
    check, parameters = _arguments_of(function, name, doc.arguments)
    pins = pins or {}
    for pinned in pins:
        if pinned not in parameters["properties"]:
            problem = unknown_name("argument", pinned, parameters["properties"])
            raise InputError(f"python tool `{name}`: `args:` pins an {problem}")
    is_async = inspect.iscoroutinefunction(written) or inspect.iscoroutinefunction(type(written).__call__)

    async def call(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        value = await function(**arguments) if is_async else await run_in_thread(function, **arguments)
        if inspect.isawaitable(value):
            value = await value
        return to_result(value, max_bytes=max_output_bytes or INLINE_OUTPUT_BYTES)

    return Tool(
        name=name,
        description=description or doc.text or f"The Python function `{name}`.",
        parameters=without_pins(parameters, pins),
        call=call,
        check=check,
        pins=pins,
        required=required,
        max_calls=max_calls,
        max_output_bytes=max_output_bytes,
        policy=policy,
    )


def _arguments_of(
    function: Callable[..., Any], name: str, descriptions: dict[str, str]
) -> tuple[Callable[[dict[str, Any]], dict[str, Any]], dict[str, Any]]:
    """Return what checks the arguments of a call, and their schema."""
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    hints = _hints_of(function, name)
    for parameter in _parameters_of(function, name):
        hint = hints.get(parameter.name, Any)
        text = descriptions.get(parameter.name) or _note_of(hint)
        described: dict[str, Any] = {"description": text} if text else {}  # None would hide that of a `Field`
        default = ... if parameter.default is parameter.empty else parameter.default
        # Named by number, so that a parameter may be called what a pydantic model's own members are called.
        field = f"argument_{len(fields)}"
        names[field] = parameter.name
        fields[field] = (hint, Field(default, alias=parameter.name, **described))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, coerce_numbers_to_str=True)
    try:
        model = create_model(name, __config__=config, **fields)
        parameters = schema_of(model)
    except (PydanticUserError, PydanticUndefinedAnnotation) as exc:
        raise InputError(
            f"python tool `{name}`: a parameter has a type that JSON cannot carry"
            f" ({exc.message.splitlines()[0].rstrip('.')}); use str, int, float, bool, list, dict or a model of these"
        ) from exc
    validate = model.__pydantic_validator__.validate_python

    def check(arguments: dict[str, Any]) -> dict[str, Any]:
        checked = validate(arguments)
        return {names[field]: getattr(checked, field) for field in checked.model_fields_set}

    return check, parameters


def _parameters_of(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InputError(f"python tool `{name}`: it yields, and a tool returns one value; return a list instead")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as exc:
        raise InputError(f"python tool `{name}`: its parameters cannot be found out; wrap it in a function") from exc
    for parameter in parameters:
        if parameter.kind in _FORMS:
            raise InputError(f"python tool `{name}`: parameter `{parameter.name}` {_FORMS[parameter.kind]}")
    return parameters


def _hints_of(function: Callable[..., Any], name: str) -> dict[str, Any]:
    written = _written(function)
    try:
        return get_type_hints(written if inspect.isroutine(written) else type(written).__call__, include_extras=True)
    except (NameError, TypeError) as exc:
        raise InputError(f"python tool `{name}`: a type hint cannot be read: {exc}") from exc


def _note_of(hint: Any) -> str | None:
    """The text in `Annotated[int, "what it is"]`."""
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((note for note in notes if isinstance(note, str)), None)


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind `functools.partial`: it has the name, the docstring and the hints."""
    while isinstance(function, functools.partial):
        function = function.func
    return function

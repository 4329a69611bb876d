"""Reads the arguments of a call as the model wrote them, and says what is wrong with them."""

import json
from typing import Any

from pydantic import ValidationError

from ..suggest import unknown_name
from .base import Tool, Value


class BadArguments(ValueError):
    """Arguments that a tool cannot be called with; the message is for the model."""


def parse_arguments(text: str) -> dict[str, Any]:
    """Parse the arguments of a call; models that mean "none" write nothing, blanks or `null`.

    Raises: BadArguments.
    """
    if not text.strip():
        return {}
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as exc:
        near = text[max(0, exc.pos - 20) : exc.pos + 20]
        raise BadArguments(
            f"the arguments are not valid JSON: {exc.msg.lower()} at character {exc.pos + 1}, near `{near}`"
        ) from exc
    except (ValueError, RecursionError) as exc:  # a number of thousands of digits; nesting without end
        raise BadArguments("the arguments are not JSON that can be read; write less of it") from exc
    if parsed is None:
        return {}
    if not isinstance(parsed, dict):
        raise BadArguments(f"the arguments must be a JSON object, not {_KINDS.get(type(parsed), 'a number')}")
    return parsed


_KINDS = {list: "an array", str: "a string", bool: "true or false"}


def check_arguments(tool: Tool, arguments: dict[str, Any]) -> Value:
    """Return what the tool's function is given: the arguments with the pinned ones over them, checked.

    Raises: BadArguments.
    """
    arguments = {**arguments, **tool.pins}
    if tool.check is None:
        return arguments
    try:
        return tool.check(arguments)
    except ValidationError as exc:
        known = tool.parameters.get("properties", {})
        problems = [_problem(error, known) for error in exc.errors(include_url=False)]
        raise BadArguments("; ".join(problems)) from exc


def _problem(error: Any, known: dict[str, Any]) -> str:
    path = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"argument `{path}` is missing"
    if error["type"] == "extra_forbidden":
        return unknown_name("argument", path, known) if len(error["loc"]) == 1 else f"`{path}` is not known"
    return f"argument `{path}`: {error['msg'][:1].lower()}{error['msg'][1:]}"

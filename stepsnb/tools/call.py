"""The guards around a tool call: arguments checked, time bounded, every failure made data, long results spilled."""

import asyncio
import json
import time
import traceback
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from ..errors import StepsError
from ..messages import ToolCall
from ..settings import INLINE_OUTPUT_BYTES
from ..suggest import unknown_name
from .base import Tool, ToolContext, ToolResult, Value
from .spill import preview, spill
from .workers import run_in_thread


@dataclass(frozen=True, slots=True)
class Called:
    """A call that is over.

    `result` is as the model sees it. `arguments` are the parsed ones, empty when they could not be parsed.
    `spilled_to` is the file in the working directory that holds the whole result.
    """

    result: ToolResult
    ok: bool
    truncated: bool = False
    spilled_to: str | None = None
    duration_s: float = 0.0
    arguments: dict[str, Any] = field(default_factory=dict)


class BadArguments(ValueError):
    """Arguments that a tool cannot be called with; the message is for the model."""


async def call_tool(tool: Tool, call: ToolCall, ctx: ToolContext) -> Called:
    """Run one call to its end; whatever goes wrong inside the tool is a result the model can act on.

    Raises: `errors.Aborted` and `errors.InputError` of a tool that waits for a person: no answer is no result.
    """
    began = time.monotonic()
    arguments: dict[str, Any] = {}
    try:
        arguments = parse_arguments(call.arguments)
        value = _check(tool, arguments)
    except BadArguments as exc:
        result = ToolResult.error(f"the call was not run: {exc}")
    else:
        result = await _run(tool, value, ctx)
    result, spilled_to = await _bound(result, tool, call, ctx)
    return Called(
        result=result,
        ok=not result.is_error,
        truncated=result.is_truncated,
        spilled_to=spilled_to,
        duration_s=time.monotonic() - began,
        arguments=arguments,
    )


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


def _check(tool: Tool, arguments: dict[str, Any]) -> Value:
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


async def _run(tool: Tool, value: Value, ctx: ToolContext) -> ToolResult:
    try:
        async with asyncio.timeout(tool.run_timeout_s) as clock:
            return await tool.call(value, ctx)
    except TimeoutError as exc:
        if clock.expired():
            return ToolResult.error(f"`{tool.name}` did not finish within {tool.run_timeout_s:g} seconds")
        return _raised(exc)
    except asyncio.CancelledError as exc:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return _raised(exc)  # of something the tool waited for; nobody stopped the step
    except StepsError as exc:
        if tool.waits_for_person:
            raise
        return ToolResult.error(str(exc))
    except GeneratorExit:
        raise
    except BaseException as exc:  # noqa: BLE001 - a tool never ends a run, not even with `sys.exit()`
        return _raised(exc)


def _raised(exc: BaseException) -> ToolResult:
    """Name the exception and its message; the traceback, with its host paths, is not for the model."""
    return ToolResult.error("".join(traceback.format_exception_only(exc)).strip())


async def _bound(result: ToolResult, tool: Tool, call: ToolCall, ctx: ToolContext) -> tuple[ToolResult, str | None]:
    """Make a result valid Unicode that is short enough for the conversation."""
    content = result.content
    if not content.isascii():
        content = content.encode("utf-8", "backslashreplace").decode()  # a provider would refuse lone surrogates
        result = replace(result, content=content)
    if not tool.spills or len(content) * 4 <= INLINE_OUTPUT_BYTES or len(content.encode()) <= INLINE_OUTPUT_BYTES:
        return result, None
    text = content if result.long_text is None else result.long_text
    try:
        path, pointer = await run_in_thread(spill, text, call_id=call.id, root=ctx.root)
    except OSError as exc:
        return replace(result, content=preview(text, (exc.strerror or "").lower()), is_truncated=True), None
    return replace(result, content=pointer, is_truncated=True), path

"""The guards around a tool call: arguments checked, calls counted, every failure made data, long results spilled."""

import time
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..messages import ToolCall
from ..settings import INLINE_OUTPUT_BYTES
from .arguments import BadArguments, check_arguments, parse_arguments
from .attempts import run_attempts
from .base import Tool, ToolContext, ToolResult
from .spill import preview, spill
from .workers import run_in_thread


@dataclass(frozen=True, slots=True)
class Called:
    """A call that is over.

    `result` is as the model sees it. `arguments` are those the model wrote, without pinned ones and empty when they
    could not be parsed. `spilled_to` is the file in the working directory that holds the whole result. `denied_by`
    says what refused to run the call, None when it ran.
    """

    result: ToolResult
    ok: bool
    truncated: bool = False
    spilled_to: str | None = None
    duration_s: float = 0.0
    arguments: dict[str, Any] = field(default_factory=dict)
    denied_by: Literal["max_calls", "arguments"] | None = None


async def call_tool(tool: Tool, call: ToolCall, ctx: ToolContext, *, handed_in_at: float | None = None) -> Called:
    """Run one call to its end; whatever goes wrong inside the tool is a result the model can act on.

    Args:
        handed_in_at: When, in the loop's time, the reply with the call was there, if not now.

    Raises: `errors.Aborted` and `errors.InputError` of a tool that waits for a person: no answer is no result.
    """
    began = time.monotonic()
    arguments: dict[str, Any] = {}
    denied_by: Literal["max_calls", "arguments"] | None = None
    try:
        written = parse_arguments(call.arguments)
        arguments = {name: value for name, value in written.items() if name not in tool.pins}
        value = check_arguments(tool, arguments)
    except BadArguments as exc:
        result, denied_by = ToolResult.error(f"the call was not run: {exc}"), "arguments"
    else:
        if tool.max_calls is not None and ctx.calls_made[tool.name] >= tool.max_calls:
            result, denied_by = ToolResult.error(_no_calls_left(tool, tool.max_calls)), "max_calls"
        else:
            ctx.calls_made[tool.name] += 1
            result = await run_attempts(tool, value, replace(ctx, call_id=call.id), handed_in_at=handed_in_at)
    result, spilled_to = await _bound(result, tool, call, ctx)
    return Called(
        result=result,
        ok=not result.is_error,
        truncated=result.is_truncated,
        spilled_to=spilled_to,
        duration_s=time.monotonic() - began,
        arguments=arguments,
        denied_by=denied_by,
    )


def _no_calls_left(tool: Tool, limit: int) -> str:
    times = "once" if limit == 1 else f"{limit} times"
    return (
        f"the call was not run: `{tool.name}` may be called {times} in a conversation (`max_calls`), and has been; "
        "go on without it"
    )


async def _bound(result: ToolResult, tool: Tool, call: ToolCall, ctx: ToolContext) -> tuple[ToolResult, str | None]:
    """Make a result valid Unicode that is short enough for the conversation."""
    content = result.content
    if not content.isascii():
        content = content.encode("utf-8", "backslashreplace").decode()  # a provider would refuse lone surrogates
        result = replace(result, content=content)
    limit = INLINE_OUTPUT_BYTES if tool.max_output_bytes is None else tool.max_output_bytes
    if not tool.spills or len(content) * 4 <= limit or len(content.encode()) <= limit:
        return result, None
    text = content if result.long_text is None else result.long_text
    try:
        path, pointer = await run_in_thread(spill, text, call_id=call.id, root=ctx.root, max_bytes=limit)
    except OSError as exc:
        why = (exc.strerror or "").lower()
        return replace(result, content=preview(text, why, max_bytes=limit), is_truncated=True), None
    return replace(result, content=pointer, is_truncated=True), path

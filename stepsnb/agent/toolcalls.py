"""Runs the tool calls of one reply: those that may run together at once, the others one after another."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..effects import RetryNotice
from ..events import Emit, Retry
from ..events import Tool as ToolEvent
from ..llm import Reply
from ..messages import Message, ToolCall, cut_utf8, tool_result
from ..settings import TOOL_RESULT_RECORD_BYTES
from ..suggest import unknown_name
from ..tools import BadArguments, Called, Tool, ToolContext, ToolResult, call_tool, parse_arguments

Settle = Callable[[], Awaitable[None]]
Ran = tuple[ToolCall, Called, Message]

_CUT_OFF = (
    "the call was not run: it was cut off by the output limit before its arguments were complete; send it again, "
    "in smaller parts if it is long"
)


def cut_off_call(reply: Reply) -> ToolCall | None:
    """Return the call that the output limit cut off in the middle of its arguments, if any: only the last can be."""
    if reply.finish_reason != "length" or not reply.tool_calls:
        return None
    last = reply.tool_calls[-1]
    return last if last.repaired or not _is_readable(last) else None


def _is_readable(call: ToolCall) -> bool:
    try:
        parse_arguments(call.arguments)
    except BadArguments:
        return False
    return bool(call.arguments.strip())


@dataclass(frozen=True, slots=True)
class _Handed:
    """The calls of one reply as they were handed in; the `refused` one does not run."""

    turn: int
    at: float
    refused: ToolCall | None


class ToolRunner:
    """Runs calls against the tools an agent was granted and reports each to the event stream."""

    def __init__(self, tools: Sequence[Tool], *, context: ToolContext, emit: Emit, settle: Settle) -> None:
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._context = context
        self._emit = emit
        self._settle = settle

    def may_run_cut_off(self, call: ToolCall) -> bool:
        """Whether a call whose end is missing may run with what was mended of it: it must be safe to repeat."""
        tool = self.tools.get(call.name)
        return tool is not None and tool.is_safe_to_repeat and call.repaired

    def is_spent(self, name: str) -> bool:
        """Whether every further call of a tool will be refused, because it may not be called more often."""
        tool = self.tools.get(name)
        return tool is not None and tool.max_calls is not None and self._context.calls_made[name] >= tool.max_calls

    async def run(self, calls: Sequence[ToolCall], turn: int, *, refused: ToolCall | None = None) -> list[Ran]:
        """Run every call and return each with its result message, in call order.

        Calls that change nothing and sub-agents start together, at once. The others run one after another, and the
        intent of each is on the disk before it runs; its queue clock starts with the reply all the same. The
        `refused` call was cut off, and gets a result that says so. Raises the first exception of a call; those that
        still ran are stopped then.
        """
        handed = _Handed(turn, asyncio.get_running_loop().time(), refused)
        if len(calls) == 1:
            return [await self._run_one(calls[0], handed)]
        tasks: list[asyncio.Task[Ran]] = []
        try:
            async with asyncio.TaskGroup() as group:
                running = {
                    index: group.create_task(self._run_one(call, handed))
                    for index, call in enumerate(calls)
                    if self._starts_at_once(call)
                }
                for index, call in enumerate(calls):
                    if index not in running:
                        running[index] = group.create_task(self._run_one(call, handed))
                        await asyncio.wait([running[index]])
                tasks = [running[index] for index in range(len(calls))]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    def _starts_at_once(self, call: ToolCall) -> bool:
        tool = self.tools.get(call.name)
        return tool is None or tool.is_read_only or tool.runs_together

    async def _run_one(self, call: ToolCall, handed: _Handed) -> Ran:
        self._emit(self._event("start", call, handed.turn))
        try:
            called, denied_by = await self._call(call, handed)
        except BaseException:
            end = self._event("end", call, handed.turn)
            end.ok, end.result = False, ToolResult.error("the call was cut off before it had a result").content
            self._emit(end)
            raise
        text = called.result.content
        end = self._event("end", call, handed.turn)
        end.ok, end.result = called.ok, cut_utf8(text, TOOL_RESULT_RECORD_BYTES)
        end.truncated, end.spilled_to, end.duration_s = called.truncated, called.spilled_to, called.duration_s
        end.denied_by, end.code = denied_by or called.denied_by, called.result.code
        self._emit(end)
        return call, called, tool_result(call, text)

    async def _call(self, call: ToolCall, handed: _Handed) -> tuple[Called, str | None]:
        """Make a call, or refuse it: what has no tool, and what arrived in part."""
        tool = self.tools.get(call.name)
        if call is handed.refused:
            return Called(result=ToolResult.error(_CUT_OFF), ok=False, arguments={}), "output_limit"
        if tool is None:
            refusal = ToolResult.error(unknown_name("tool", call.name, self.tools))
            return Called(result=refusal, ok=False, arguments={}), "grant"
        if not tool.is_read_only:
            await self._settle()

        def on_retry(notice: RetryNotice) -> None:
            self._emit(
                Retry(
                    effect="tool",
                    turn=handed.turn,
                    call_id=call.id,
                    attempt=notice.attempt,
                    max_attempts=notice.max_attempts,
                    reason=notice.reason,
                    code=notice.code,
                    wait_s=notice.wait_s,
                )
            )

        context = replace(self._context, on_retry=on_retry)
        return await call_tool(tool, call, context, handed_in_at=handed.at), None

    def _event(self, phase: Literal["start", "end"], call: ToolCall, turn: int) -> ToolEvent:
        return ToolEvent(
            phase=phase,
            turn=turn,
            call_id=call.id,
            tool=call.name,
            args=call.arguments,
            repaired=call.repaired,
            promoted=call.promoted,
        )

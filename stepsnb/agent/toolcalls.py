"""Runs the tool calls of one reply: those that change nothing together, the others one after another."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from ..events import Emit
from ..events import Tool as ToolEvent
from ..messages import Message, ToolCall, cut_utf8, tool_result
from ..settings import TOOL_RESULT_RECORD_BYTES
from ..suggest import unknown_name
from ..tools import Called, Tool, ToolContext, ToolResult, call_tool

Settle = Callable[[], Awaitable[None]]
Ran = tuple[ToolCall, Called, Message]


class ToolRunner:
    """Runs calls against the tools an agent was granted and reports each to the event stream."""

    def __init__(self, tools: Sequence[Tool], *, context: ToolContext, emit: Emit, settle: Settle) -> None:
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._context = context
        self._emit = emit
        self._settle = settle

    async def run(self, calls: Sequence[ToolCall], turn: int) -> list[Ran]:
        """Run every call and return each with its result message, in call order.

        Calls that change nothing start together, at once. The others run one after another, and the intent of each
        is on the disk before it runs. Raises the first exception of a call; those that still ran are stopped then.
        """
        if len(calls) == 1:
            return [await self._run_one(calls[0], turn)]
        tasks: list[asyncio.Task[Ran]] = []
        try:
            async with asyncio.TaskGroup() as group:
                running = {
                    index: group.create_task(self._run_one(call, turn))
                    for index, call in enumerate(calls)
                    if self._is_read_only(call)
                }
                for index, call in enumerate(calls):
                    if index not in running:
                        running[index] = group.create_task(self._run_one(call, turn))
                        await asyncio.wait([running[index]])
                tasks = [running[index] for index in range(len(calls))]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    def _is_read_only(self, call: ToolCall) -> bool:
        tool = self.tools.get(call.name)
        return tool is None or tool.is_read_only

    async def _run_one(self, call: ToolCall, turn: int) -> Ran:
        self._emit(self._event("start", call, turn))
        try:
            called = await self._call(call)
        except BaseException:
            end = self._event("end", call, turn)
            end.ok, end.result = False, ToolResult.error("the call was cut off before it had a result").content
            self._emit(end)
            raise
        text = called.result.content
        end = self._event("end", call, turn)
        end.ok, end.result = called.ok, cut_utf8(text, TOOL_RESULT_RECORD_BYTES)
        end.truncated, end.spilled_to, end.duration_s = called.truncated, called.spilled_to, called.duration_s
        end.denied_by = None if call.name in self.tools else "grant"
        self._emit(end)
        return call, called, tool_result(call, text)

    async def _call(self, call: ToolCall) -> Called:
        tool = self.tools.get(call.name)
        if tool is None:
            refusal = ToolResult.error(unknown_name("tool", call.name, self.tools))
            return Called(result=refusal, ok=False, arguments={})
        if not tool.is_read_only:
            await self._settle()
        return await call_tool(tool, call, self._context)

    def _event(self, phase: Literal["start", "end"], call: ToolCall, turn: int) -> ToolEvent:
        return ToolEvent(
            phase=phase, turn=turn, call_id=call.id, tool=call.name, args=call.arguments, repaired=call.repaired
        )

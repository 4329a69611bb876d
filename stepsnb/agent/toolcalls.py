"""Runs the tool calls of one reply: those that change nothing together, the others one after another."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from ..events import Emit
from ..events import Tool as ToolEvent
from ..messages import Message, ToolCall, cut_utf8, tool_result
from ..settings import TOOL_RESULT_RECORD_BYTES
from ..suggest import unknown_name
from ..tools import Called, Tool, ToolContext, ToolResult, call_tool

ContextFor = Callable[[ToolCall], ToolContext]
Settle = Callable[[], Awaitable[None]]
Ran = tuple[ToolCall, Called, Message]


class ToolRunner:
    """Runs calls against the tools an agent was granted and reports each to the event stream."""

    def __init__(
        self, tools: Sequence[Tool], *, context_for: ContextFor, emit: Emit, settle: Settle, agent: str
    ) -> None:
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._context_for = context_for
        self._emit = emit
        self._settle = settle
        self._agent = agent

    async def run(self, calls: Sequence[ToolCall], turn: int) -> list[Ran]:
        """Run every call and return each with its result message, in call order.

        Calls that change nothing start together; a call that may change something waits for those before it, and
        its intent is on the disk before it runs.
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
        tool = self.tools.get(call.name)
        self._emit(
            ToolEvent(
                phase="start", turn=turn, call_id=call.id, tool=call.name, args=call.arguments, repaired=call.repaired
            )
        )
        denied_by = None
        if tool is None:
            denied_by = "grant"
            called = Called(
                result=ToolResult.error(unknown_name("tool", call.name, self.tools)), ok=False, arguments={}
            )
        else:
            if not tool.is_read_only:
                await self._settle()
            called = await call_tool(tool, call, self._context_for(call))
        text = called.result.content
        self._emit(
            ToolEvent(
                phase="end",
                turn=turn,
                call_id=call.id,
                tool=call.name,
                args=call.arguments,
                result=cut_utf8(text, TOOL_RESULT_RECORD_BYTES),
                ok=called.ok,
                repaired=call.repaired,
                truncated=called.truncated,
                spilled_to=called.spilled_to,
                duration_s=called.duration_s,
                denied_by=denied_by,
            )
        )
        return call, called, tool_result(call, text)

"""Makes one call of a tool: under its clocks, again where it may be, and with every failure made a result."""

import asyncio
import traceback
from dataclasses import replace

from ..effects import DEFAULTS, Attempt, EffectFailed, RetryPolicy, Slots, run_effect
from ..errors import ErrorCode, StepsError, ToolError
from .base import Tool, ToolContext, ToolResult, Value, to_json


def policy_of(tool: Tool) -> RetryPolicy:
    """Return the clocks and attempts that hold for the calls of a tool."""
    return tool.policy or DEFAULTS["waiting" if tool.waits_for_person else "tool"]


async def run_attempts(tool: Tool, value: Value, ctx: ToolContext, *, handed_in_at: float | None = None) -> ToolResult:
    """Call the tool until it gives a result that stands, and return that.

    A failure is tried again when it is `retryable` or a clock ran out, as far as the policy goes. A result that reads
    as success stands, however late it came.

    Args:
        handed_in_at: When, in the loop's time, the reply with the call was there, if not now; what has waited longer
            than its queue clock allows is not started.

    Raises: what a tool that waits for a person raises, and cancellation from outside.
    """
    policy = policy_of(tool)
    effect = _Effect(tool, value, ctx)
    # The calls of a reply wait for each other before this; a queue clock is judged where room is asked for.
    executor = None if handed_in_at is None or policy.queue_timeout_s is None else Slots(1)
    try:
        return await run_effect(
            policy, effect.attempt, executor=executor, handed_in_at=handed_in_at, on_retry=ctx.on_retry
        )
    except EffectFailed as exc:
        return effect.failure(exc)


class _Effect:
    """The attempts at one call, and what the last of them came to."""

    def __init__(self, tool: Tool, value: Value, ctx: ToolContext) -> None:
        self._tool = tool
        self._value = value
        self._ctx = ctx
        self._result: ToolResult | None = None
        self._given_s: float | None = None
        self._is_late = False

    async def attempt(self, attempt: Attempt) -> ToolResult:
        """Make one attempt. Raises EffectFailed for a failure that may be tried again."""
        clock = asyncio.get_running_loop().time
        began, deadline = clock(), attempt.deadline
        self._result, self._given_s = None, None if deadline is None else deadline - began
        try:
            result = self._result = await self._call(replace(self._ctx, deadline=deadline), attempt)
        finally:
            self._is_late = deadline is not None and clock() >= deadline
        if result.is_error and self._is_late:
            raise EffectFailed(_words(result), code=ErrorCode.DEADLINE_EXCEEDED, retryable=True)
        if result.is_error and result.retryable:
            raise EffectFailed(_words(result), code=result.code or ErrorCode.PROVIDER_ERROR, retryable=True)
        return result

    async def _call(self, ctx: ToolContext, attempt: Attempt) -> ToolResult:
        if not (self._tool.is_uninterruptible or self._tool.keeps_time):
            return await _caught(self._tool, self._value, ctx)
        call = asyncio.ensure_future(_caught(self._tool, self._value, ctx))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            if attempt.cut_off is None:  # stopped from outside, which goes for these tools too
                call.cancel()
                await asyncio.wait({call})
                raise
        return await call

    def failure(self, exc: EffectFailed) -> ToolResult:
        """Return the result of a call that failed and is not made again."""
        tried = f" (tried {exc.attempts} times)" if exc.attempts > 1 else ""
        result, own = self._result, "" if self._result is None else _words(self._result)
        if self._is_late and self._given_s is not None:
            name, given = self._tool.name, f"{round(self._given_s, 2):g}"
            words = f"`{name}` timed out after {given} s (deadline exceeded while running){tried}"
            partial = f"{words}; anything it returned may be partial: {own}" if own else words
            return _explained(result, partial, ErrorCode.DEADLINE_EXCEEDED)
        if result is None:
            return ToolResult.error(f"`{self._tool.name}` was not run: {exc}", code=exc.code)
        return _explained(result, f"{own}{tried}", result.code) if tried else result


async def _caught(tool: Tool, value: Value, ctx: ToolContext) -> ToolResult:
    """Call the tool; what it raises is a result. Awaits nothing after the call: it may be closed there."""
    try:
        return await tool.call(value, ctx)
    except asyncio.CancelledError as exc:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return _raised(exc)  # of something the tool waited for; nobody stopped the step
    except ToolError as exc:
        return ToolResult.error(str(exc), code=exc.code, retryable=exc.retryable)
    except StepsError as exc:
        if tool.waits_for_person:
            raise
        return ToolResult.error(str(exc), code=exc.code if isinstance(exc.code, ErrorCode) else None)
    except BaseException as exc:  # noqa: BLE001 - a tool never ends a run, not even with `sys.exit()`
        return _raised(exc)


def _raised(exc: BaseException) -> ToolResult:
    """Name the exception and its message; the traceback, with its host paths, is not for the model."""
    return ToolResult.error("".join(traceback.format_exception_only(exc)).strip())


def _words(result: ToolResult) -> str:
    """What a failed result says of itself."""
    return str((result.data or {}).get("error") or result.content)


def _explained(result: ToolResult | None, words: str, code: ErrorCode | None) -> ToolResult:
    """Return a failed result with other words for why it failed, and the rest of it as it was."""
    if result is None:
        return ToolResult.error(words, code=code)
    data = {**(result.data or {}), "error": words}
    long_text = None if result.long_text is None else f"{words}\n{result.long_text}"
    return replace(result, content=to_json(data), data=data, long_text=long_text, code=code)

import asyncio
from typing import Any

import pytest

from stepsnb.effects import DEFAULTS, RetryNotice, RetryPolicy
from stepsnb.errors import Aborted, ErrorCode, ToolError
from stepsnb.messages import ToolCall
from stepsnb.tools import Called, Tool, ToolContext, ToolResult, call_tool, policy_of, python_tool
from stepsnb.tools.run_shell import run_shell_tool
from stepsnb.tools.write_file import write_file_tool

from .conftest import Call, error_of

QUICK = RetryPolicy(max_attempts=3, backoff_base_s=0.001)


def tool_of(call: Any, **traits: Any) -> Tool:
    return Tool(name="slow", description="", parameters={}, call=call, **traits)


async def run(tool: Tool, ctx: ToolContext) -> Called:
    return await call_tool(tool, ToolCall("call_7", tool.name, "{}"), ctx)


def flaky(failures: int, *, retryable: bool = True, **traits: Any) -> Tool:
    left = failures

    def flaky() -> str:
        nonlocal left
        if left:
            left -= 1
            raise ToolError("the quay is closed", retryable=retryable, code="rate_limited")
        return "open"

    return python_tool(flaky, **traits)


async def test_failure_said_to_be_retryable_is_tried_again(ctx: ToolContext) -> None:
    notices: list[RetryNotice] = []
    ctx.on_retry = notices.append
    called = await run(flaky(2, policy=QUICK), ctx)
    assert (called.result.content, called.ok) == ("open", True)
    assert [(notice.attempt, notice.reason, notice.code) for notice in notices] == [
        (2, "the quay is closed", ErrorCode.RATE_LIMITED),
        (3, "the quay is closed", ErrorCode.RATE_LIMITED),
    ]


async def test_last_failure_is_the_result_with_how_often_it_was_tried(ctx: ToolContext) -> None:
    called = await run(flaky(9, policy=QUICK), ctx)
    assert error_of(called) == "the quay is closed (tried 3 times)"
    assert called.result.code is ErrorCode.RATE_LIMITED


async def test_tool_is_called_once_by_default(ctx: ToolContext) -> None:
    called = await run(flaky(1), ctx)
    assert error_of(called) == "the quay is closed"
    assert called.result.code is ErrorCode.RATE_LIMITED


async def test_failure_that_is_not_retryable_is_not_tried_again(ctx: ToolContext) -> None:
    assert error_of(await run(flaky(1, retryable=False, policy=QUICK), ctx)) == "the quay is closed"


async def test_exception_of_another_kind_is_not_tried_again(ctx: ToolContext) -> None:
    calls = []

    def fail() -> None:
        calls.append(1)
        raise ValueError("bad")

    assert error_of(await run(python_tool(fail, policy=QUICK), ctx)) == "ValueError: bad"
    assert len(calls) == 1


async def test_attempt_that_ran_out_of_time_is_tried_again_on_a_fresh_clock(ctx: ToolContext) -> None:
    deadlines: list[float] = []

    async def slow_at_first(arguments: Any, ctx: ToolContext) -> ToolResult:
        assert ctx.deadline is not None
        deadlines.append(ctx.deadline)
        await asyncio.sleep(60 if len(deadlines) == 1 else 0)
        return ToolResult("done")

    policy = RetryPolicy(run_timeout_s=0.1, max_attempts=2, backoff_base_s=0.001)
    assert (await run(tool_of(slow_at_first, policy=policy), ctx)).result.content == "done"
    assert deadlines[1] - deadlines[0] >= 0.1


async def test_each_call_has_a_clock_of_its_own(ctx: ToolContext) -> None:
    deadlines: list[float | None] = []

    async def nap(arguments: Any, ctx: ToolContext) -> ToolResult:
        deadlines.append(ctx.deadline)
        await asyncio.sleep(0.01)
        return ToolResult("rested")

    tool = tool_of(nap, policy=RetryPolicy(run_timeout_s=60))
    for _ in range(3):
        assert (await run(tool, ctx)).ok
    first, second, third = deadlines
    assert first < second < third


async def test_failure_after_its_time_keeps_the_tools_own_words(ctx: ToolContext) -> None:
    async def tell(arguments: Any, ctx: ToolContext) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return ToolResult.of({"error": "still waiting for widgetd", "seen": 3}, is_error=True)
        raise AssertionError

    called = await run(tool_of(tell, policy=RetryPolicy(run_timeout_s=0.1)), ctx)
    assert error_of(called) == (
        "`slow` timed out after 0.1 s (deadline exceeded while running); "
        "anything it returned may be partial: still waiting for widgetd"
    )
    assert called.result.data is not None
    assert called.result.data["seen"] == 3
    assert called.result.code is ErrorCode.DEADLINE_EXCEEDED


async def test_failure_in_time_is_not_called_late(ctx: ToolContext) -> None:
    async def fail(arguments: Any, ctx: ToolContext) -> ToolResult:
        return ToolResult.error("no such quay")

    called = await run(tool_of(fail, policy=RetryPolicy(run_timeout_s=30)), ctx)
    assert (error_of(called), called.result.code) == ("no such quay", None)


async def test_uninterruptible_call_runs_to_its_end_and_its_success_stands(ctx: ToolContext) -> None:
    async def write(arguments: Any, ctx: ToolContext) -> ToolResult:
        await asyncio.sleep(0.3)
        return ToolResult("written")

    tool = tool_of(write, is_uninterruptible=True, policy=RetryPolicy(run_timeout_s=0.1))
    called = await run(tool, ctx)
    assert (called.result.content, called.ok, called.result.code) == ("written", True, None)


async def test_uninterruptible_call_that_failed_late_is_told_so(ctx: ToolContext) -> None:
    async def write(arguments: Any, ctx: ToolContext) -> ToolResult:
        await asyncio.sleep(0.3)
        return ToolResult.error("the disk is full")

    tool = tool_of(write, is_uninterruptible=True, policy=RetryPolicy(run_timeout_s=0.1))
    assert error_of(await run(tool, ctx)).endswith("may be partial: the disk is full")


async def test_local_file_tool_is_not_cut_off(work, call: Call) -> None:
    tool = write_file_tool(policy=RetryPolicy(run_timeout_s=1e-9))
    assert (await call(tool, path="a.txt", content="all of it")).ok
    assert (work / "a.txt").read_text() == "all of it"


@pytest.mark.parametrize("trait", ["is_uninterruptible", "keeps_time"])
async def test_stop_reaches_calls_that_no_clock_cuts_off(ctx: ToolContext, trait: str) -> None:
    ended = asyncio.Event()

    async def wait(arguments: Any, ctx: ToolContext) -> ToolResult:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        raise AssertionError

    task = asyncio.create_task(run(tool_of(wait, **{trait: True}), ctx))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_command_that_is_ended_may_still_tell_how_far_it_got(call: Call) -> None:
    tool = run_shell_tool(policy=RetryPolicy(run_timeout_s=1))
    called = await call(tool, command="trap 'echo saved; exit 0' TERM; sleep 60 & wait")
    assert called.result.data is not None
    assert called.result.data["stdout"] == "saved\n"


async def test_call_that_waited_longer_than_its_queue_clock_is_not_started(ctx: ToolContext) -> None:
    async def never(arguments: Any, ctx: ToolContext) -> ToolResult:
        raise AssertionError

    tool = tool_of(never, policy=RetryPolicy(queue_timeout_s=5))
    long_ago = asyncio.get_running_loop().time() - 6
    called = await call_tool(tool, ToolCall("c", "slow", "{}"), ctx, handed_in_at=long_ago)
    assert error_of(called) == (
        "`slow` was not run: deadline exceeded while queued: not started within 5 s (`queue_timeout_secs`)"
    )
    assert called.result.code is ErrorCode.DEADLINE_EXCEEDED


async def test_total_clock_bounds_all_attempts(ctx: ToolContext) -> None:
    policy = RetryPolicy(total_timeout_s=0.2, max_attempts=9, backoff_base_s=30)
    assert error_of(await run(flaky(9, policy=policy), ctx)) == "the quay is closed"


async def test_generator_exit_of_a_tool_is_data(ctx: ToolContext) -> None:
    async def leave(arguments: Any, ctx: ToolContext) -> ToolResult:
        raise GeneratorExit("gone")

    assert error_of(await run(tool_of(leave), ctx)) == "GeneratorExit: gone"


async def test_nobody_answering_ends_the_step_only_for_a_tool_that_waits_for_people(ctx: ToolContext) -> None:
    async def ask(arguments: Any, ctx: ToolContext) -> ToolResult:
        raise Aborted("nobody answered")

    assert error_of(await run(tool_of(ask), ctx)) == "nobody answered"
    with pytest.raises(Aborted):
        await run(tool_of(ask, waits_for_person=True), ctx)


def test_tool_without_a_policy_has_that_of_its_kind() -> None:
    assert policy_of(flaky(0)) == DEFAULTS["tool"]
    assert policy_of(tool_of(None, waits_for_person=True)) == RetryPolicy()


async def test_call_knows_its_own_id(ctx: ToolContext) -> None:
    async def see(arguments: Any, ctx: ToolContext) -> ToolResult:
        return ToolResult(ctx.call_id)

    assert (await run(tool_of(see), ctx)).result.content == "call_7"
    assert ctx.call_id == ""

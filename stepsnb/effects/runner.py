"""Runs one effect to its result or its final failure. Everything that is tried again is tried again here.

The three clocks are the loop's. The queue clock runs until an executor starts an attempt, the run clock while it
works, the total clock from the first attempt to the end.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from ..errors import ErrorCode, ProviderError
from .bounds import Bounds, ClockRanOut, Ends, final
from .errors import EffectFailed, is_repeatable, to_failure
from .policy import RetryPolicy
from .slots import Executor

T = TypeVar("T")


@dataclass(slots=True)
class Attempt:
    """One attempt, as its work sees it.

    `number` starts at 1. `deadline`, in the loop's time, is when the work is cancelled, None for never. `cut_off`
    is None until then and says why afterwards: work that is cancelled while it is None was stopped from outside.
    """

    number: int
    deadline: float | None
    cut_off: str | None = None


@dataclass(frozen=True, slots=True)
class RetryNotice:
    """Another attempt is coming: `attempt`, of `max_attempts`, after `wait_s`; why the last one failed."""

    attempt: int
    max_attempts: int
    reason: str
    code: ErrorCode
    wait_s: float


Work: TypeAlias = Callable[[Attempt], Awaitable[T]]


async def run_effect(
    policy: RetryPolicy,
    work: Work[T],
    *,
    where: str = "",
    executor: Executor | None = None,
    handed_in_at: float | None = None,
    on_retry: Callable[[RetryNotice], None] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Try `work` until it gives a result, and return that.

    Work fails by raising `EffectFailed` or a `ProviderError`, and is tried again only when that is retryable. What
    else it raises ends the effect as it is. Once its clock has run out, work is cancelled and waited for; a result
    it gives nevertheless counts, since it would be done twice otherwise, and after an error that is not retryable
    it is not tried again. Cancellation from outside ends the work first and then passes on.

    Args:
        policy: The clocks, the attempts and the waits.
        work: Called once for each attempt.
        where: Names the effect at the start of the clocks' messages, such as "tool `fetch`".
        executor: Room that each attempt waits for; None hands it straight to its owner, without a queue.
        handed_in_at: When, in the loop's time, the first attempt was handed in, if not now.
        on_retry: Told before each wait; N attempts give N - 1 notices.
        sleep: Waits between attempts.

    Raises: `EffectFailed` once nothing is left to try.
    """
    loop = asyncio.get_running_loop()
    handed_in = loop.time() if handed_in_at is None else handed_in_at
    bounds, number = Bounds(policy, where, handed_in), 1
    while True:
        try:
            return await _attempt(bounds, work, number, executor, handed_in)
        except (EffectFailed, ProviderError) as exc:
            failure, cause = to_failure(exc), exc.__cause__ if isinstance(exc, ClockRanOut) else exc
        try:
            if not failure.retryable or number >= policy.max_attempts:
                raise final(failure, number)
            wait_s = bounds.wait_after(failure, number, loop.time())
        except EffectFailed as exc:
            raise exc from cause
        number += 1
        if on_retry is not None:
            on_retry(RetryNotice(number, policy.max_attempts, str(failure), failure.code, wait_s))
        await sleep(wait_s)
        handed_in = loop.time()


async def _attempt(bounds: Bounds, work: Work[T], number: int, executor: Executor | None, handed_in: float) -> T:
    """Make one attempt: wait for room, then work."""
    if executor is None:
        return await _run(bounds, work, number)
    await _queue(bounds.of_queue(handed_in), executor)
    try:
        return await _run(bounds, work, number)
    finally:
        executor.release()


async def _queue(ends: Ends, executor: Executor) -> None:
    """Wait until the executor has room. Raises once it is too late to start, and leaves the room to others."""
    clock = asyncio.timeout_at(ends.at)
    try:
        async with clock:
            await executor.acquire()
    except TimeoutError:
        if not clock.expired():
            raise
        raise ends.error from None
    if ends.is_over(asyncio.get_running_loop().time()):  # there was room at once, for a call that came too late
        executor.release()
        raise ends.error


async def _run(bounds: Bounds, work: Work[T], number: int) -> T:
    """Run the work in a task of its own, so that its clock cannot take away a result it has already given."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    ends = bounds.of_run(started)
    if ends.is_over(started):
        raise ends.error
    attempt = Attempt(number, ends.at)
    task = loop.create_task(_call(work, attempt))
    try:
        await asyncio.wait({task}, timeout=None if ends.at is None else ends.at - started)
        if not task.done():
            await asyncio.sleep(0)  # what the work waited for may have come in the same moment
        if not task.done():
            attempt.cut_off = str(ends.error)
            task.cancel()
            await asyncio.wait({task})
    finally:
        await _end(task)
    return task.result() if attempt.cut_off is None else _late_result(task, ends.error)


async def _call(work: Work[T], attempt: Attempt) -> T:
    return await work(attempt)


def _late_result(task: asyncio.Task[T], ran_out: ClockRanOut) -> T:
    """Return what work gave although its clock had run out, or raise that it had."""
    if task.cancelled():
        raise ran_out
    try:
        return task.result()
    except (EffectFailed, ProviderError) as exc:
        ran_out.retryable = ran_out.retryable and is_repeatable(exc)
        raise ran_out from exc


async def _end(task: asyncio.Task[T]) -> None:
    """Leave no work behind: cancel it and wait for its end, again for each time that we are cancelled meanwhile."""
    while not task.done():
        task.cancel()
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:  # the one that brought us here is already on its way
            continue
    if not task.cancelled():
        task.exception()  # seen, so that nobody is told it was lost

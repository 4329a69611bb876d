"""Runs the branches of a block side by side, and leaves none of them behind."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ..outcome import Outcome, worst
from .results import StepResult
from .stopping import accept_stop

Branch = Callable[[], Awaitable[StepResult]]


async def run_branches(
    branches: Sequence[Branch], *, limit: int | None = None, ends: Callable[[StepResult], bool] = lambda _: False
) -> list[StepResult | None]:
    """Run every branch, at most `limit` at a time, and return their results in the order of `branches`.

    Once a result `ends` the block, no further branch begins and the others are stopped: those that ran end as aborted,
    those that had not begun are None. So does a stop of the whole, which is taken as handled once every branch has
    ended.
    """
    room = asyncio.Semaphore(limit or max(len(branches), 1))
    has_ended = False

    async def run(branch: Branch) -> StepResult | None:
        nonlocal has_ended
        async with room:
            if has_ended:
                return None
            result = await branch()
            if ends(result):
                has_ended = True
            return result

    tasks = [asyncio.create_task(run(branch)) for branch in branches]
    pending = set(tasks)
    try:
        while pending and not has_ended:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        accept_stop()
    finally:
        await _end(tasks)
    return [None if task.cancelled() else task.result() for task in tasks]


async def _end(tasks: Sequence[asyncio.Task[StepResult | None]]) -> None:
    """Stop what still runs and wait for its recorded end, however often we are stopped meanwhile."""
    for task in tasks:
        task.cancel()
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait([task for task in tasks if not task.done()])
        except asyncio.CancelledError:
            accept_stop()
            for task in tasks:
                task.cancel()


def reasons_of(results: Sequence[StepResult | None]) -> str | None:
    """Join why branches did not succeed, each with its name; None when all did."""
    bad = [result for result in results if result is not None and not result.outcome.is_good]
    return "; ".join(f"`{each.name}` {each.outcome}: {each.reason or 'no reason given'}" for each in bad) or None


def outcome_of(results: Sequence[StepResult | None], *, was_stopped: bool = False) -> Outcome:
    """Return the worst outcome of the branches that ran; a block none of whose branches began was stopped."""
    ran = [result.outcome for result in results if result is not None]
    if was_stopped or (results and not ran):
        return Outcome.ABORTED
    return worst(ran)


def is_final(results: Sequence[StepResult | None]) -> bool:
    """Whether no route may catch how a block ended, because that holds for one of its branches."""
    return any(result is not None and result.is_final for result in results)

"""The deadline of a block."""

import asyncio

import pytest

from stepsnb.outcome import Outcome
from stepsnb.run.deadline import in_time
from stepsnb.run.results import StepResult
from stepsnb.run.stopping import accept_stop

DONE = StepResult("s1", "block", "do", Outcome.SUCCEEDED)
STOPPED = StepResult("s1", "block", "do", Outcome.ABORTED)
LATE = StepResult("s1", "block", "do", Outcome.FAILED)


async def done():
    return DONE


async def never():
    await asyncio.Event().wait()


async def takes_the_stop():
    """End like a step does that was stopped."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        accept_stop()
    return STOPPED


@pytest.mark.parametrize("left_s", [None, 60])
async def test_work_that_ends_in_time_is_the_result(left_s):
    assert await in_time(done(), left_s, late=LATE) is DONE


@pytest.mark.parametrize("work", [never, takes_the_stop])
async def test_work_that_takes_longer_is_stopped_and_late(work):
    assert await in_time(work(), 0.001, late=LATE) is LATE


async def test_stop_by_somebody_else_is_not_late():
    task = asyncio.create_task(in_time(takes_the_stop(), 60, late=LATE))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()

    assert await task is STOPPED


async def test_time_that_ran_out_inside_stays_an_error_of_the_inside():
    async def breaks():
        raise TimeoutError("a connection")

    with pytest.raises(TimeoutError, match="a connection"):
        await in_time(breaks(), 60, late=LATE)

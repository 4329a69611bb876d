"""Stops and what must not be cut by them."""

import asyncio
import threading

import pytest

from stepsnb.run.stopping import accept_stop
from stepsnb.workspace import finish, finish_in_thread


async def stopped(work, *, times=1):
    """Run `work` as a task, stop it `times` times once it waits, and return it settled."""
    task = asyncio.create_task(work)
    for _ in range(times):
        await asyncio.sleep(0.02)
        task.cancel()
    await asyncio.wait([task])
    return task


async def test_work_ends_before_the_stop_is_raised_however_often_it_comes():
    log = []

    async def work():
        await asyncio.sleep(0.2)
        log.append("ended")

    task = await stopped(finish(work()), times=3)
    assert task.cancelled()
    assert log == ["ended"]


async def test_thread_ends_before_the_stop_is_raised():
    goes_on, log = threading.Event(), []

    def work():
        goes_on.wait(5)
        log.append("ended")

    task = asyncio.create_task(finish_in_thread(work))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.sleep(0.05)
    assert not task.done()
    goes_on.set()
    await asyncio.wait([task])
    assert (task.cancelled(), log) == (True, ["ended"])


async def test_failure_of_the_work_outranks_the_stop():
    async def fail():
        await asyncio.sleep(0.05)
        raise ValueError("no")

    task = await stopped(finish(fail()))
    assert isinstance(task.exception(), ValueError)


async def test_result_comes_through_without_a_stop():
    assert await finish_in_thread(pow, 2, 5) == 32


async def test_accepted_stops_leave_later_awaits_alone():
    async def work():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            accept_stop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        return "went on"

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    task.cancel()
    task.cancel()
    assert await task == "went on"

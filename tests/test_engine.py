"""The engine's loop and its tasks."""

import asyncio
import os
import sys
import threading
import time

import pytest

from stepsnb.engine import engine


async def nap(seconds, log=None):
    try:
        await asyncio.sleep(seconds)
    finally:
        if log is not None:
            await asyncio.sleep(0.05)
            log.append("cleaned up")
    return "done"


def test_coroutine_runs_on_the_engines_own_daemon_thread():
    async def where():
        return threading.current_thread()

    thread = engine().start(where()).result(5)
    assert (thread.name, thread.daemon) == ("stepsnb-engine", True)


def test_exception_reaches_whoever_waits():
    async def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        engine().start(fail()).result(5)


def test_cancelled_task_has_settled_only_after_its_cleanup():
    log = []
    task = engine().start(nap(60, log))
    time.sleep(0.05)
    task.cancel()
    assert task.wait(5)
    assert log == ["cleaned up"]


def test_wait_gives_up_when_its_time_is_over():
    task = engine().start(nap(60))
    assert not task.wait(0.05)
    task.cancel()
    assert task.wait(5)


async def test_task_is_awaited_from_another_loop():
    assert await engine().start(nap(0.01)) == "done"


async def test_waiter_that_gives_up_does_not_cancel_the_task():
    task = engine().start(nap(0.3))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.ensure_future(_wait(task)), 0.05)
    assert await task == "done"


async def _wait(task):
    return await task


def test_callback_comes_when_the_task_has_settled():
    called = threading.Event()
    engine().start(nap(0.01)).on_settled(called.set)
    assert called.wait(5)


def test_coroutine_cancelled_at_once_has_begun_and_cleans_up():
    log = []
    task = engine().start(nap(60, log))
    task.cancel()
    assert task.wait(5)
    assert log == ["cleaned up"]


def test_result_that_does_not_come_in_time_is_said_to_be_missing():
    task = engine().start(nap(60))
    with pytest.raises(TimeoutError, match=r"not settled within 0\.05 s"):
        task.result(0.05)
    task.cancel()
    assert task.wait(5)


def test_exit_called_in_a_coroutine_reaches_its_waiter_and_not_the_engine():
    async def leave():
        sys.exit(3)

    with pytest.raises(SystemExit):
        engine().start(leave()).result(5)
    assert engine().start(nap(0)).result(5) == "done"


def test_waits_on_the_engines_own_thread_nest_any_number_at_once():
    async def wait_here():
        await asyncio.sleep(0.01)
        inner = engine().start(nap(0.05)).result()
        async with asyncio.timeout(5):  # needs the current task to be known again
            await asyncio.gather(asyncio.sleep(0.01), asyncio.to_thread(time.sleep, 0.01))
        return inner

    tasks = [engine().start(wait_here()) for _ in range(20)]
    assert [task.result(10) for task in tasks] == ["done"] * 20


async def test_nested_waits_leave_other_loops_and_asyncio_as_they_are():
    before = [asyncio.run, asyncio.Task, asyncio.Future, asyncio.SelectorEventLoop._run_once]

    async def wait_here():
        return engine().start(nap(0.01)).result()

    assert await engine().start(wait_here()) == "done"
    assert [asyncio.run, asyncio.Task, asyncio.Future, asyncio.SelectorEventLoop._run_once] == before
    assert await engine().start(nap(0.01)) == "done"


def test_nested_wait_gives_up_when_its_time_is_over():
    async def wait_here():
        inner = engine().start(nap(60))
        in_time = inner.wait(0.1)
        inner.cancel()
        return in_time, inner.wait(5)

    assert engine().start(wait_here()).result(5) == (False, True)


def test_stop_of_a_task_that_waits_nested_reaches_what_it_waits_for():
    log, inner = [], []

    async def wait_here():
        inner.append(engine().start(nap(60, log)))
        inner[0].wait()
        await asyncio.sleep(60)

    task = engine().start(wait_here())
    while not inner:
        time.sleep(0.01)
    task.cancel()
    assert task.wait(5)
    assert (inner[0].is_settled, log) == (True, ["cleaned up"])


def test_callback_on_the_loop_may_wait_nested():
    got = []
    task = engine().start(nap(0.3))
    engine().call(lambda: got.append(engine().start(nap(0.01)).wait()))
    assert task.result(5) == "done"
    assert got == [True]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_forked_child_gets_an_engine_of_its_own():
    engine()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if engine().start(nap(0)).result(5) == "done" else 1)
    assert os.waitpid(pid, 0)[1] == 0

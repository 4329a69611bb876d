"""The engine's loop and its tasks."""

import asyncio
import os
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


def test_waiting_on_the_engines_own_thread_is_refused_rather_than_a_deadlock():
    async def wait_here():
        return engine().start(nap(0.01)).result()

    with pytest.raises(RuntimeError, match="await it instead"):
        engine().start(wait_here()).result(5)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_forked_child_gets_an_engine_of_its_own():
    engine()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if engine().start(nap(0)).result(5) == "done" else 1)
    assert os.waitpid(pid, 0)[1] == 0

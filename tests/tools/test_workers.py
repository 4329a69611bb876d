import asyncio
import subprocess
import sys
import threading
import time

import pytest

from stepsnb.tools.workers import IDLE_S, run_in_thread


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "stepsnb-tool"]


async def test_result_and_error_come_back() -> None:
    assert await run_in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(divmod, 7, 0)


async def test_functions_run_side_by_side() -> None:
    barrier = threading.Barrier(3, timeout=10)
    await asyncio.gather(*(run_in_thread(barrier.wait) for _ in range(3)))


async def test_one_thread_serves_calls_that_follow_one_another() -> None:
    names = {await run_in_thread(threading.get_ident) for _ in range(5)}
    assert len(names) == 1


async def test_no_thread_is_left_soon_after() -> None:
    await asyncio.gather(*(run_in_thread(time.sleep, 0.01) for _ in range(5)))
    await asyncio.sleep(IDLE_S + 0.5)
    assert workers() == []


async def test_cancelled_caller_does_not_wait_for_the_function() -> None:
    task = asyncio.create_task(run_in_thread(time.sleep, 1.0))
    await asyncio.sleep(0.05)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 0.5


def test_loop_that_closed_meanwhile_is_no_error() -> None:
    async def leave() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run_in_thread(time.sleep, 0.3), 0.05)

    asyncio.run(leave())
    time.sleep(0.4)


def test_hanging_function_does_not_keep_the_process_alive() -> None:
    program = """
import asyncio, time
from stepsnb.tools.workers import run_in_thread
async def main():
    try:
        await asyncio.wait_for(run_in_thread(time.sleep, 600), 0.1)
    except TimeoutError:
        print("left")
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=30, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")

"""Threads for synchronous tools.

Not asyncio's own: those are waited for when the interpreter exits, so one hanging function of a notebook would keep
the kernel from ever ending.
"""

import asyncio
import contextlib
import contextvars
import functools
import queue
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

IDLE_S = 0.5
"""A thread without work ends after this, so that none is left soon after a run."""

_lock = threading.Lock()
_idle: list["_Worker"] = []


async def run_in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in a worker thread that sees this task's context variables, and return or raise what it does.

    A cancelled caller stops waiting; the function goes on to its own end, and nobody gets its result.
    """
    loop = asyncio.get_running_loop()
    # The outcome is handed over as a value: a future can hold neither StopIteration nor, harmlessly, SystemExit.
    future: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(outcome: tuple[T | None, BaseException | None]) -> None:
        if not future.done():
            future.set_result(outcome)

    def job() -> Callable[[], None]:
        outcome: tuple[T | None, BaseException | None]
        try:
            outcome = (context.run(function, *args, **kwargs), None)
        except BaseException as exc:  # noqa: BLE001 - raised again where it is awaited
            outcome = (None, exc)
        return functools.partial(report, outcome)

    def report(outcome: tuple[T | None, BaseException | None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, outcome)

    _hand_out(job)
    value, error = await future
    if error is not None:
        try:
            raise error
        finally:
            del error, future  # no cycle through the traceback
    return value  # type: ignore[return-value]  # None only when that is what the function returned


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="stepsnb-tool", daemon=True)
        self.jobs: queue.SimpleQueue[Callable[[], Callable[[], None]]] = queue.SimpleQueue()

    def run(self) -> None:
        while True:
            try:
                job = self.jobs.get(timeout=IDLE_S)
            except queue.Empty:
                with _lock:
                    if self in _idle:
                        _idle.remove(self)
                        return
                continue  # a job is on its way to us
            report = job()
            del job
            with _lock:
                _idle.append(self)
            report()  # last: whoever calls again on hearing it finds this thread idle
            del report


def _hand_out(job: Callable[[], Callable[[], None]]) -> None:
    with _lock:
        worker = _idle.pop() if _idle else None
    if worker is None or not worker.is_alive():  # dead after a fork: only the forking thread lives on
        worker = _Worker()
        worker.start()
    worker.jobs.put(job)

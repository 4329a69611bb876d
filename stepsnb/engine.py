"""The process's one asyncio loop in one daemon thread, on which every run lives.

Nothing here nests on a caller's loop: a caller hands in a coroutine and waits for its task, from sync code,
from another loop, or not at all.
"""

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class EngineTask(Generic[T]):
    """One coroutine running on the engine's loop.

    Settled means that the coroutine has really ended, its cleanup included; a cancelled
    `concurrent.futures.Future` alone would claim so too early.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._task: asyncio.Task[T] | None = None
        self._cancels = 0
        self._done: concurrent.futures.Future[T] = concurrent.futures.Future()

    def _start(self, coro: Coroutine[Any, Any, T]) -> None:
        self._task = self._loop.create_task(coro)
        self._task.add_done_callback(self._settle)
        if self._cancels:
            self._task.cancel()

    def _settle(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self._done.cancel()
            self._done.set_running_or_notify_cancel()
        elif (exc := task.exception()) is not None:
            self._done.set_exception(exc)
        else:
            self._done.set_result(task.result())

    @property
    def is_settled(self) -> bool:
        """Whether the coroutine has ended and cleaned up."""
        return self._done.done()

    def cancel(self) -> None:
        """Ask the coroutine to stop, from any thread; wait for `is_settled` to know that it has."""
        self._cancels += 1

        def cancel_task() -> None:
            if self._task is not None:
                self._task.cancel()

        self._loop.call_soon_threadsafe(cancel_task)

    def on_settled(self, callback: Callable[[], None]) -> None:
        """Call `callback` once the coroutine has ended; on the engine's thread, or at once if it has already."""
        self._done.add_done_callback(lambda _: callback())

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block the calling thread until settled; False when `timeout_s` passed first."""
        return not concurrent.futures.wait([self._done], timeout_s).not_done

    def result(self, timeout_s: float | None = None) -> T:
        """Block the calling thread for the coroutine's result, raising what it raised.

        Raises: `RuntimeError` on the engine's own thread, where waiting would never end.
        """
        if threading.current_thread() is engine().thread:
            raise RuntimeError("this would wait for the engine on the engine's own thread; await it instead")
        return self._done.result(timeout_s)

    def __await__(self) -> Generator[Any, None, T]:
        # Shielded: a waiter that is cancelled stops waiting, it does not cancel the run behind its back.
        return asyncio.shield(asyncio.wrap_future(self._done)).__await__()


class Engine:
    """A thread that runs one asyncio loop until the process ends."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="stepsnb-engine", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def start(self, coro: Coroutine[Any, Any, T]) -> EngineTask[T]:
        """Run `coro` as a task of the engine's loop; callable from any thread."""
        task: EngineTask[T] = EngineTask(self.loop)
        self.loop.call_soon_threadsafe(task._start, coro)
        return task

    def call(self, callback: Callable[..., object], *args: object) -> None:
        """Run a plain function on the engine's loop soon; callable from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the process is ending
            self.loop.call_soon_threadsafe(callback, *args)


_lock = threading.Lock()
_engine: Engine | None = None


def engine() -> Engine:
    """Return the process's engine, starting it on first use and anew after a fork."""
    global _engine  # noqa: PLW0603 - one engine a process is the point
    with _lock:
        if _engine is None or _engine.pid != os.getpid():
            _engine = Engine()
        return _engine

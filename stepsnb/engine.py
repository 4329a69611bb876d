"""The process's one asyncio loop in one daemon thread, on which every run lives.

Nothing here nests on a caller's loop: a caller hands in a coroutine and waits for its task, from sync code,
from another loop, or not at all. Code that itself runs on the engine's loop and waits there, say an `async def` tool
that calls `pipeline.run()`, is the one case in which loops nest, and then it is the engine's own.
"""

import asyncio
import concurrent.futures
import contextlib
import math
import os
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_NESTED_POLL_S = 0.05
"""How often a wait nested on the engine's loop looks whether the task around it was stopped."""


class EngineTask(Generic[T]):
    """One coroutine running on the engine's loop.

    Settled means that the coroutine has really ended, its cleanup included; a cancelled
    `concurrent.futures.Future` alone would claim so too early.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._task: asyncio.Task[T] | None = None
        self._has_begun = False
        self._is_cancel_wanted = False
        self._done: concurrent.futures.Future[T] = concurrent.futures.Future()

    def _start(self, coro: Coroutine[Any, Any, T]) -> None:
        self._task = self._loop.create_task(self._begin(coro))
        self._task.add_done_callback(self._settle)

    async def _begin(self, coro: Coroutine[Any, Any, T]) -> T:
        # A task cancelled before its first step never enters its coroutine, which then could not record its end.
        self._has_begun = True
        if self._is_cancel_wanted:
            self._cancel()
        return await coro

    def _cancel(self) -> None:
        if self._task is not None and self._has_begun:
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
        """Ask the coroutine to stop, from any thread; wait for `is_settled` to know that it has.

        One that has not begun yet begins, and is cancelled where it first waits.
        """
        self._is_cancel_wanted = True
        self._loop.call_soon_threadsafe(self._cancel)

    def on_settled(self, callback: Callable[[], None]) -> None:
        """Call `callback` once the coroutine has ended; on the engine's thread, or at once if it has already."""
        self._done.add_done_callback(lambda _: callback())

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block the calling thread until settled; False when `timeout_s` passed first."""
        if engine().is_current_thread and not self.is_settled:
            return engine().wait_nested(self, timeout_s)
        return not concurrent.futures.wait([self._done], timeout_s).not_done

    def result(self, timeout_s: float | None = None) -> T:
        """Block the calling thread for the coroutine's result, raising what it raised.

        Raises: TimeoutError when `timeout_s` passed first.
        """
        if not self.wait(timeout_s):
            raise TimeoutError(f"not settled within {timeout_s:g} s")
        return self._done.result()

    def __await__(self) -> Generator[Any, None, T]:
        # Shielded: a waiter that is cancelled stops waiting, it does not cancel the run behind its back.
        return asyncio.shield(asyncio.wrap_future(self._done)).__await__()


class _EngineLoop(asyncio.SelectorEventLoop):
    """A class of its own, because nest_asyncio patches the class of a loop: the kernel's loops stay as they are."""


class Engine:
    """A thread that runs one asyncio loop until the process ends."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = _EngineLoop()
        self.thread = threading.Thread(target=self._run, name="stepsnb-engine", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while True:
            # `sys.exit()` in somebody's callback leaves `run_forever`. Its own task has it as its exception; the
            # others go on.
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                self.loop.run_forever()

    @property
    def is_current_thread(self) -> bool:
        """Whether the caller runs on the engine's loop."""
        return threading.current_thread() is self.thread

    def start(self, coro: Coroutine[Any, Any, T]) -> EngineTask[T]:
        """Run `coro` as a task of the engine's loop; callable from any thread."""
        task: EngineTask[T] = EngineTask(self.loop)
        self.loop.call_soon_threadsafe(task._start, coro)
        return task

    def call(self, callback: Callable[..., object], *args: object) -> None:
        """Run a plain function on the engine's loop soon; callable from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the process is ending
            self.loop.call_soon_threadsafe(callback, *args)

    def wait_nested(self, task: EngineTask[Any], timeout_s: float | None) -> bool:
        """Wait on the engine's own thread, as a last resort: its loop runs on inside the call. False as in `wait`.

        When the task that waits is stopped, so is what it waits for. Waits end innermost first: one may go on for
        as long as another began on top of it.
        """
        loop, outer = self.loop, asyncio.current_task(self.loop)
        _let_nest(loop)
        queued = len(loop._ready)  # type: ignore[attr-defined]  # of BaseEventLoop, as all that nest_asyncio uses
        if outer is not None:
            asyncio.tasks._leave_task(loop, outer)
        try:
            return loop.run_until_complete(_watch(task, outer, timeout_s))
        finally:
            if outer is not None:
                asyncio.tasks._enter_task(loop, outer)
            # The loop's own `_run_once` below us may still pop as many handles as were queued when we came.
            for _ in range(queued - len(loop._ready)):  # type: ignore[attr-defined]
                loop.call_soon(_nothing)


async def _watch(task: EngineTask[Any], outer: asyncio.Task[Any] | None, timeout_s: float | None) -> bool:
    """Wait for `task` to settle; hand on a stop of `outer`, the task that waits."""
    loop, settled, is_handed_on = asyncio.get_running_loop(), asyncio.Event(), False
    task.on_settled(settled.set)
    give_up_at = math.inf if timeout_s is None else loop.time() + timeout_s
    while not settled.is_set():
        if outer is not None and outer.cancelling() and not is_handed_on:
            task.cancel()
            is_handed_on = True
        left_s = give_up_at - loop.time()
        if left_s <= 0:
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(left_s, _NESTED_POLL_S)):
                await settled.wait()
    return True


def _let_nest(loop: asyncio.AbstractEventLoop) -> None:
    """Make the engine's loop reentrant.

    Not `nest_asyncio.apply`, which would also replace `asyncio.run`, tasks, futures and the policy for the whole
    process; the rest of it is needed only where the task that waits is not taken off the loop first, as it is here.
    """
    import nest_asyncio

    nest_asyncio._patch_loop(loop)


def _nothing() -> None:
    pass


_lock = threading.Lock()
_engine: Engine | None = None


def engine() -> Engine:
    """Return the process's engine, starting it on first use and anew after a fork."""
    global _engine  # noqa: PLW0603 - one engine a process is the point
    with _lock:
        if _engine is None or _engine.pid != os.getpid():
            _engine = Engine()
        return _engine

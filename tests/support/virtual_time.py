"""A loop whose time passes only while nothing can run, so that hours of waiting take no time and end exactly."""

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """Starts at 1,000 s. For code without threads and sockets: what is waited for can only be a timer."""

    def __init__(self) -> None:
        self.now = 1_000.0
        super().__init__(_NoWaiting(self))

    def time(self) -> float:
        return self.now


class _NoWaiting(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("everything waits and no timer is set: this would never end")
        self._loop.now += max(timeout, 0)
        return super().select(0)


def in_virtual_time(test: Callable[P, Awaitable[T]]) -> Callable[P, T]:
    """Run an async test in a `VirtualLoop`; it fails if it leaves a task behind."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        async def alone() -> T:
            result = await test(*args, **kwargs)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, f"left behind: {left}"
            return result

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(alone())

    return run

"""Work on a run's files that a stop must not cut in the middle."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def finish(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` to its end, however often the caller is cancelled meanwhile.

    Raises what `work` raises; else `CancelledError`, after it has ended, when a cancellation came.
    """
    task = asyncio.ensure_future(work)
    was_stopped = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            was_stopped = True
    result = task.result()
    if was_stopped:
        raise asyncio.CancelledError
    return result


async def finish_in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in a thread and wait for its end.

    A thread cannot be stopped, and one that is merely left alone would go on with a folder while it is removed.
    """
    return await finish(asyncio.to_thread(function, *args, **kwargs))

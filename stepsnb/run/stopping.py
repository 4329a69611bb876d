"""How a stop, which asyncio delivers as a cancellation, passes through a run."""

import asyncio


def accept_stop() -> None:
    """Take every stop so far as handled, so that what is awaited next is not cut by it."""
    if (task := asyncio.current_task()) is not None:
        while task.uncancel():
            continue

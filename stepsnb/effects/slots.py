"""The executor that queued work goes through."""

import asyncio
from typing import Protocol

from ..errors import InputError


class Executor(Protocol):
    """Starts work when it has room for it, in the order in which it was handed in."""

    async def acquire(self) -> object:
        """Wait for room; cancelled, it takes none and passes on what it had been given."""

    def release(self) -> None:
        """Give the room back."""


class Slots:
    """Room for `count` pieces of work at a time, first come first served; belongs to the loop it is first used in.

    Raises: `InputError` when `count` is less than 1.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise InputError(f"an executor with room for {count} runs nothing; give 1 or more")
        self._free = asyncio.Semaphore(count)

    async def acquire(self) -> None:
        """Wait for room behind all who came before."""
        await self._free.acquire()

    def release(self) -> None:
        """Give the room to whoever has waited longest."""
        self._free.release()

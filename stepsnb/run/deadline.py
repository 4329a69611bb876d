"""The deadline of a block: what runs inside is stopped, and the block has failed."""

import asyncio
from collections.abc import Awaitable

from .results import StepResult


async def in_time(work: Awaitable[StepResult], left_s: float | None, *, late: StepResult) -> StepResult:
    """Return what `work` comes to, or `late` when it was stopped after `left_s` seconds; None means no deadline."""
    clock = asyncio.timeout(left_s)
    try:
        async with clock:
            result = await work
    except TimeoutError:
        if not clock.expired():
            raise
        return late
    return late if clock.expired() else result  # steps take a stop as handled, so that it need not come through

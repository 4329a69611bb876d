"""Room for work: in order, and none of it lost."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.effects import Slots
from stepsnb.errors import InputError

from ..support.virtual_time import in_virtual_time


def test_room_for_nothing_is_refused():
    with pytest.raises(InputError, match="room for 0 runs nothing"):
        Slots(0)


def test_slots_made_outside_a_loop_work_in_one():
    slots = Slots(1)

    async def use():
        await slots.acquire()
        slots.release()

    asyncio.run(use())


@given(
    room=st.integers(1, 3),
    work=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.none() | st.integers(0, 10)), max_size=12),
)
def test_who_comes_first_starts_first_and_no_room_is_lost(room, work):
    """Each piece of work: when it comes, how long it takes, and when it is called off, if it is."""
    started: list[int] = []

    @in_virtual_time
    async def run_all():
        slots, running = Slots(room), 0

        async def one(index, comes, takes):
            nonlocal running
            await asyncio.sleep(comes)
            asked.append(index)
            await slots.acquire()
            started.append(index)
            running += 1
            assert running <= room
            try:
                await asyncio.sleep(takes)
            finally:
                running -= 1
                slots.release()

        asked: list[int] = []
        tasks = [asyncio.create_task(one(index, comes, takes)) for index, (comes, takes, _) in enumerate(work)]
        for task, (_, _, off) in zip(tasks, work, strict=True):
            if off is not None:
                asyncio.get_running_loop().call_later(off, task.cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert started == [index for index in asked if index in started]
        assert {i for i, (_, _, off) in enumerate(work) if off is None} <= set(started)
        for _ in range(room):
            await asyncio.wait_for(slots.acquire(), 1)

    run_all()

"""The deadline of a step, and who may make it stand still."""

import asyncio
from unittest.mock import Mock

import pytest

from stepsnb.run.context import StepContext
from stepsnb.run.meter import Meter


def context_of(clock, **fields):
    parts = {
        "run": Mock(),
        "scope": Mock(),
        "step_id": "s1",
        "emit": Mock(),
        "directory": Mock(),
        "clock": clock,
        "timeout_s": 100.0,
    }
    return StepContext(**{**parts, **fields})


@pytest.fixture
async def clock():
    async with asyncio.timeout(100) as clock:
        yield clock


async def test_deadline_that_is_held_does_not_run_and_goes_on_from_where_it_stood(clock):
    step, before = context_of(clock), clock.when()
    with step.deadline_held():
        assert step.time_left() is None
        await asyncio.sleep(0.05)
    assert clock.when() >= before + 0.05


async def test_deadline_stands_still_until_the_last_of_several_lets_go(clock):
    step = context_of(clock)
    async with asyncio.timeout(50) as one, asyncio.timeout(50) as two:
        children = [step.within(own, 50.0, step_id="s1.1", emit=Mock(), meter=Meter()) for own in (one, two)]
        before = clock.when()
        first, second = (child.deadline_held() for child in children)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert (clock.when(), two.when()) == (None, None)
        assert one.when() is not None
        await asyncio.sleep(0.05)
        second.__exit__(None, None, None)
        assert clock.when() >= before + 0.05


async def test_step_without_a_deadline_has_none_after_it_was_held():
    async with asyncio.timeout(None) as clock:
        step = context_of(clock, timeout_s=None)
        with step.deadline_held(), step.deadline_held():
            assert clock.when() is None
        assert clock.when() is None

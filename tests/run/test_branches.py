"""Branches side by side: how many at a time, and what ends them."""

import asyncio

from stepsnb.outcome import Outcome
from stepsnb.run.branches import is_final, run_branches
from stepsnb.run.results import StepResult


def result(name, outcome=Outcome.SUCCEEDED, **more):
    return StepResult("s1", name, "task", outcome, **more)


def branch(name, outcome=Outcome.SUCCEEDED, begun=None):
    async def run():
        if begun is not None:
            begun.append(name)
        await asyncio.sleep(0)
        return result(name, outcome)

    return run


def is_bad(each):
    return not each.outcome.is_good


async def test_results_are_in_the_order_of_the_branches():
    assert await run_branches([branch("a"), branch("b")]) == [result("a"), result("b")]


async def test_limit_of_one_runs_them_in_order():
    begun: list[str] = []

    await run_branches([branch(name, begun=begun) for name in "abc"], limit=1)

    assert begun == ["a", "b", "c"]


async def test_no_branch_begins_once_one_has_ended_the_block():
    begun: list[str] = []
    branches = [branch("a", Outcome.FAILED, begun), branch("b", begun=begun), branch("c", begun=begun)]

    results = await run_branches(branches, limit=1, ends=is_bad)

    assert results == [result("a", Outcome.FAILED), None, None]
    assert begun == ["a"]


async def test_branch_that_does_not_end_the_block_lets_the_others_begin():
    results = await run_branches([branch("a", Outcome.FAILED), branch("b")], limit=1)

    assert results == [result("a", Outcome.FAILED), result("b")]


def test_block_is_final_when_a_branch_is():
    assert is_final([result("a"), None, result("b", Outcome.ERRORED, is_final=True)])
    assert not is_final([result("a", Outcome.ERRORED), None])

"""Which hooks run, and what they change."""

import pytest

from stepsnb.outcome import Outcome
from stepsnb.run.hooks import run_hooks
from stepsnb.run.results import StepResult

HOOKS = {name: name for name in ("on_success", "on_failure", "on_error", "on_abort", "ensure")}


async def run(outcome, *, hooks=HOOKS, failing=()):
    """Return the hooks that ran, and what the outcome is after them."""
    ran = []

    async def hook(name):
        ran.append(name)
        return StepResult("s1", name, "task", Outcome.FAILED if name in failing else Outcome.SUCCEEDED)

    after, _ = await run_hooks(hooks, outcome, hook)
    return ran, after


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        (Outcome.SUCCEEDED, "on_success"),
        (Outcome.REUSED, "on_success"),
        (Outcome.FAILED, "on_failure"),
        (Outcome.ERRORED, "on_error"),
        (Outcome.ABORTED, "on_abort"),
    ],
)
async def test_one_hook_runs_for_an_outcome_then_ensure(outcome, name):
    assert await run(outcome) == ([name, "ensure"], outcome)


async def test_step_that_is_skipped_runs_none():
    assert await run(Outcome.SKIPPED) == ([], Outcome.SKIPPED)


@pytest.mark.parametrize("name", ["on_success", "ensure"])
async def test_failing_hook_reddens_what_was_green(name):
    assert (await run(Outcome.SUCCEEDED, failing=[name]))[1] is Outcome.FAILED


async def test_hook_clears_no_failure_and_changes_none():
    assert await run(Outcome.ERRORED, failing=["on_error", "ensure"]) == (["on_error", "ensure"], Outcome.ERRORED)

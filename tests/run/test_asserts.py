"""How a job is judged by its assert."""

import pytest

from stepsnb.config import JobAssert
from stepsnb.outcome import Outcome
from stepsnb.run.asserts import judge_job


def judged(outcome, *, execution=None, wanted=None, ran=("a", "b"), error=None):
    return judge_job(JobAssert(execution=execution, outcome=wanted), outcome, error, list(ran))


def test_job_without_assert_is_its_plan():
    assert judge_job(None, Outcome.FAILED, "no", ["a"]) == (Outcome.FAILED, "no")


def test_matching_execution_clears_the_plans_failure():
    assert judged(Outcome.FAILED, execution=("a", "b"), error="step `b` failed") == (Outcome.SUCCEEDED, None)


def test_matching_execution_beside_outcome_succeeded_does_not():
    outcome, error = judged(Outcome.FAILED, execution=("a", "b"), wanted="succeeded", error="step `b` failed: x")
    assert outcome is Outcome.FAILED
    assert error == "assert.outcome: wanted succeeded, the plan failed (step `b` failed: x)"


def test_other_execution_fails_saying_what_ran():
    assert judged(Outcome.SUCCEEDED, execution=("a",)) == (
        Outcome.FAILED,
        "assert.execution: wanted a; ran a, b",
    )


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.ERRORED])
def test_outcome_failed_matches_failed_and_errored(outcome):
    assert judged(outcome, wanted="failed") == (Outcome.SUCCEEDED, None)


def test_outcome_failed_refuses_success():
    assert judged(Outcome.SUCCEEDED, wanted="failed")[0] is Outcome.FAILED


def test_stopped_run_stays_aborted_whatever_ran():
    assert judged(Outcome.ABORTED, execution=("a", "b"), error="stopped") == (Outcome.ABORTED, "stopped")

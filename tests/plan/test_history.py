"""The steps of an earlier run, from its events."""

from stepsnb.events import Artifact, StepFinished, StepSkipped, StepStarted
from stepsnb.plan import EarlierStep, earlier_steps

from .pipelines import plan_of

MAKE = {"task": "make", "run": "make", "outputs": ["repo"]}
USE = {"task": "use", "run": "use", "inputs": ["source"], "input_mapping": {"source": "repo"}}
PLAN = plan_of(MAKE, USE)


def started(step_id, path, name, **more):
    return StepStarted(
        run_id="r1", step_id=step_id, node=path, name=name, step_kind="task", hash="h", parts={"run": "d"}, **more
    )


def artifact(step_id, name, digest):
    return Artifact(run_id="r1", step_id=step_id, name=name, digest=digest)


def finished(step_id, outcome="succeeded"):
    return StepFinished(run_id="r1", step_id=step_id, outcome=outcome)


def test_a_step_is_what_it_did_and_what_went_in_and_came_out():
    events = [
        *(started("s1", "0", "make"), artifact("s1", "repo", "d1"), finished("s1")),
        *(started("s2", "1", "use"), finished("s2", "failed")),
    ]

    assert earlier_steps(PLAN, events) == [
        EarlierStep("r1", "0", "make", "task", "h", "succeeded", {"run": "d"}, {}, {"repo": "d1"}),
        EarlierStep("r1", "1", "use", "task", "h", "failed", {"run": "d"}, {"repo": "d1"}, {}),
    ]


def test_inputs_are_those_that_were_there_when_the_step_began():
    events = [artifact("", "repo", "d0"), started("s1", "1", "use"), artifact("s2", "repo", "d1"), finished("s1")]

    assert earlier_steps(PLAN, events)[0].inputs == {"repo": "d0"}


def test_of_several_attempts_or_visits_the_last_one_counts():
    events = [
        started("s1", "0", "make"),
        finished("s1", "failed"),
        started("s2", "0", "make", attempt=2),
        finished("s2"),
    ]

    assert [step.outcome for step in earlier_steps(PLAN, events)] == ["succeeded"]


def test_a_step_that_was_cut_off_has_no_outcome():
    assert earlier_steps(PLAN, [started("s1", "0", "make")])[0].outcome == ""


def test_skipped_and_reused_steps_are_known_too():
    reused = StepSkipped(run_id="r1", step_id="s1", node="0", name="make", step_kind="task", reused=True, hash="h")
    skipped = StepSkipped(run_id="r1", step_id="s2", node="1", name="use", step_kind="task")

    steps = earlier_steps(PLAN, [reused, artifact("s1", "repo", "d1"), skipped])

    assert [(step.outcome, step.outputs) for step in steps] == [("reused", {"repo": "d1"}), ("skipped", {})]


def test_conversations_of_sub_agents_are_no_steps_of_the_plan():
    assert earlier_steps(PLAN, [StepStarted(run_id="r1", step_id="s1", name="helper", step_kind="sub_agent")]) == []

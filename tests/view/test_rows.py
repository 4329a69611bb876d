"""Where a step stands in the plan tree: visited again, taken over from another run, or still to come."""

from stepsnb.events import (
    Event,
    PlanNode,
    RunFinished,
    RunLeft,
    RunResumed,
    RunStarted,
    StepFinished,
    StepStarted,
    StepTakenOver,
    TextDelta,
)
from stepsnb.view import Fold, render_html, render_text
from stepsnb.view.rows import in_order_of_time, in_plan_order

PLAN = RunStarted(
    run_id="R2", job="notice", plan=[PlanNode(name, "task") for name in ("editor", "author", "publish", "send")]
)


def visit(step_id: str, name: str, index: int, **fields: object) -> list[Event]:
    node = str(index)
    return [
        StepStarted(step_id=step_id, name=name, step_kind="task", index=index, node=node, **fields),
        StepFinished(step_id=step_id, name=name, step_kind="task", outcome="succeeded"),
    ]


def taken_over(step_id: str, name: str, index: int, **fields: object) -> StepTakenOver:
    given = {"outcome": "succeeded", "from_run": "R1", "step_kind": "task", **fields}
    return StepTakenOver(step_id=step_id, name=name, index=index, node=str(index), **given)


def state_of(*events: Event) -> dict:
    fold = Fold()
    for event in events:
        fold.apply(event)
    return fold.state


def names(rows: list[dict]) -> list[str]:
    return [row["name"] for row in rows]


def revised() -> dict:
    visits = (("s1", "editor", 0), ("s2", "author", 1), ("s3", "editor", 0), ("s4", "publish", 2))
    return state_of(PLAN, *(event for each in visits for event in visit(*each)))


def test_a_second_visit_stands_beside_the_first():
    assert names(in_plan_order(revised()["steps"])) == ["editor", "editor (2)", "author", "publish", "send"]


def test_the_text_has_the_rows_in_the_order_of_the_plan():
    rows = render_text(revised()).splitlines()[2:8]

    assert [" ".join(row.split()[:2]) for row in rows[1:]] == [
        "editor succeeded",
        "editor (2)",
        "author succeeded",
        "publish succeeded",
        "send to",
    ]


def test_transcripts_are_in_the_order_of_time():
    state = revised()

    assert names(in_order_of_time(state["steps"])) == ["editor", "author", "editor (2)", "publish", "send"]


def test_what_is_inside_a_block_that_is_visited_again_stands_inside_that_visit():
    plan = RunStarted(plan=[PlanNode("do", "do"), PlanNode("a", "task", 0), PlanNode("b", "task")])

    def block(step_id: str, inside: str) -> list[Event]:
        return [
            StepStarted(step_id=step_id, name="do", step_kind="do", node="0"),
            *visit(inside, "a", 1, parent_id=step_id),
            StepFinished(step_id=step_id, name="do", step_kind="do", outcome="succeeded"),
        ]

    state = state_of(plan, *block("s1", "s2"), *block("s3", "s4"))

    assert names(in_plan_order(state["steps"])) == ["do", "a", "do (2)", "a", "b"]


def test_a_block_that_goes_on_after_a_resume_keeps_its_row():
    plan = RunStarted(plan=[PlanNode("do", "do"), PlanNode("a", "task", 0), PlanNode("b", "task", 0)])
    block = {"name": "do", "step_kind": "do", "node": "0"}

    state = state_of(
        plan,
        StepStarted(step_id="s1", **block),
        *visit("s2", "a", 1, parent_id="s1"),
        RunResumed(),
        StepStarted(step_id="s3", **block),
        *visit("s4", "b", 2, parent_id="s3"),
    )

    assert names(in_plan_order(state["steps"])) == ["do", "a", "b"]


def test_another_attempt_keeps_the_row():
    state = state_of(PLAN, *visit("s1", "editor", 0), *visit("s2", "editor", 0, attempt=2))

    assert names(in_plan_order(state["steps"])) == ["editor", "author", "publish", "send"]


def test_a_step_another_run_got_done_is_taken_over_and_only_the_rest_is_to_come():
    state = state_of(PLAN, taken_over("s1", "editor", 0, verdict="print", note="fine"), *visit("s2", "author", 1))

    assert [(row["status"], row["verdict"]) for row in state["steps"]] == [
        ("taken over", "print"),
        ("succeeded", None),
        ("pending", None),
        ("pending", None),
    ]
    text = render_text(state)
    assert "taken over from run R1  print" in text
    assert text.count("to come") == 2
    assert "taken over from run R1" in render_html(state)


def test_a_step_taken_over_with_a_failure_that_was_caught_says_so():
    state = state_of(PLAN, taken_over("s1", "editor", 0, outcome="failed", reason="exit code 1"))

    assert state["steps"][0]["reason"] == "taken over from run R1, where it failed: exit code 1"


def test_a_step_taken_over_twice_stands_beside_itself():
    state = state_of(PLAN, taken_over("s1", "editor", 0), taken_over("s2", "author", 1), taken_over("s3", "editor", 0))

    assert names(in_plan_order(state["steps"])) == ["editor", "editor (2)", "author", "publish", "send"]


def test_a_run_that_was_left_for_a_fork_is_neither_good_nor_bad():
    state = state_of(PLAN, *visit("s1", "editor", 0), RunLeft(forked_to="R3", duration_s=4.0))

    assert (state["outcome"], state["error"], state["status"]) == (None, None, "left for run R3")
    text = render_text(state)
    assert text.startswith("notice left for run R3 · 4 s · run R2")
    assert "not run" in text
    assert "to come" not in text


def test_a_run_that_is_resumed_after_it_was_left_is_open_again():
    state = state_of(PLAN, RunLeft(forked_to="R3"), RunResumed(), *visit("s1", "editor", 0))

    assert (state["status"], state["forked_to"]) == ("running", None)


def test_what_nobody_planned_stands_at_the_end():
    state = state_of(PLAN, TextDelta(step_id="s9", turn=1, delta="x"), RunFinished(outcome="succeeded"))

    assert names(in_plan_order(state["steps"]))[-1] == "s9"

"""Plans that are more than a list, through the public API: blocks, routes, hooks, votes, repairs, matrices, reuse."""

import time

import pytest

import stepsnb


@pytest.fixture
def run(scripted_llm, tmp_path):
    """Run a plan given as lines of YAML; agents a, b, c and judge are on the scripted model."""

    def run(plan, *, job="", start=False, **options):
        lines = ["agents:"]
        source = f"source: {{model: {scripted_llm.model}}}, tools: [read_file, write_file]"
        lines += [f"- {{name: {name}, {source}}}" for name in ("a", "b", "c", "judge")]
        lines += ["jobs:", "- name: job"] + [f"  {line}" for line in job.strip().splitlines()]
        lines += ["  plan:"] + [f"  {line}" for line in plan.strip().splitlines()]
        pipeline = stepsnb.load("\n".join(lines) + "\n")
        options.setdefault("store", tmp_path / "store")
        return pipeline.start(**options) if start else pipeline.run(**options)

    return run


def executed(result):
    return [step.name for step in result.steps]


def decides(llm, verdict, note="because"):
    return llm.says(calls=[("verdict", {"verdict": verdict, "note": note})]).says("")


REVISE = """
- task: draft
  outputs: [text]
  run: echo draft > text/t
- agent: a
  prompt: Review.
  inputs: [text]
  verdicts: [{revise: draft}, {approve: publish}]
  max_visits: 3
- task: skipped
  run: echo no
- task: publish
  run: echo shipped
"""


def test_verdict_routes_back_and_then_past_what_lies_between(run, scripted_llm):
    decides(scripted_llm, "revise")
    decides(scripted_llm, "approve")
    result = run(REVISE)
    assert result.outcome == "succeeded", result.error
    assert executed(result) == ["draft", "a", "draft", "a", "publish"]


def test_visits_are_bounded_and_the_reason_says_so(run, scripted_llm):
    for _ in range(4):
        decides(scripted_llm, "revise")
    result = run(REVISE)
    assert result.outcome == "failed"
    assert "visited more than 3 times (`max_visits`)" in result.error
    assert executed(result).count("a") == 4


def test_failure_route_catches_what_failed_and_the_plan_goes_on(run):
    result = run(
        "- {task: t, run: 'false', to: {failure: mend}}\n- {task: no, run: 'true'}\n- {task: mend, run: 'true'}"
    )
    assert (result.outcome, executed(result)) == ("succeeded", ["t", "mend"])
    assert result.steps[0].outcome == "failed"


def test_exactly_one_hook_fires_then_ensure_and_a_failing_hook_reddens(run):
    hooks = "\n  ".join(f"{key}: {{task: {key}, run: 'true'}}" for key in ("on_success", "on_failure", "ensure"))
    assert executed(run(f"- task: t\n  run: 'true'\n  {hooks}\n")) == ["t", "on_success", "ensure"]
    failed = run(f"- task: t\n  run: 'false'\n  {hooks}\n")
    assert (failed.outcome, executed(failed)) == ("failed", ["t", "on_failure", "ensure"])
    red = run("- {task: t, run: 'true', ensure: {task: tidy, run: 'false'}}")
    assert red.outcome == "failed"
    assert "hook `ensure` (step `tidy`) failed" in red.error


def test_hooks_run_once_after_a_stop(run):
    handle = run("- {task: t, run: sleep 60, on_abort: {task: tidy, run: echo tidied}}", start=True)
    time.sleep(1)
    handle.cancel()
    result = handle.result()
    assert result.outcome == "aborted"
    assert [(step.name, step.outcome) for step in result.steps] == [("t", "aborted"), ("tidy", "succeeded")]


def test_every_failure_of_parallel_branches_is_reported_and_the_worst_class_wins(run):
    steps = "[{task: one, run: exit 1}, {task: two, run: exit 2}, {task: ok, run: 'true'}]"
    result = run(f"- in_parallel: {{steps: {steps}}}")
    assert result.outcome == "failed"
    assert "`one` failed" in result.error
    assert "`two` failed" in result.error
    assert executed(result) == ["one", "two", "ok"]


def test_stop_ends_every_branch(run):
    handle = run("- in_parallel: {steps: [{task: one, run: sleep 60}, {task: two, run: sleep 60}]}", start=True)
    time.sleep(1)
    handle.cancel()
    result = handle.result()
    assert result.outcome == "aborted"
    assert [step.outcome for step in result.steps] == ["aborted", "aborted"]


def test_first_success_wins_a_race_and_only_its_outputs_stay(run):
    result = run("""
- race:
    steps:
    - {task: slow, outputs: [x], run: 'sleep 60; echo slow > x/f'}
    - {task: fast, outputs: [x], run: 'echo fast > x/f'}
- {task: show, inputs: [x], run: cat x/f}
""")
    assert (result.outcome, result.steps[-1].text) == ("succeeded", "fast\n")
    assert {step.name: step.outcome for step in result.steps}["slow"] == "aborted"


ENSEMBLE = """
- ensemble:
    verdicts: [{reject: mend}, {approve: ship}]
    decide: %s
    agents:
    - {agent: a, prompt: Review.}
    - {agent: b, prompt: Review.}
    - {agent: c, prompt: Review.}
- {task: mend, run: echo mend}
- {task: ship, run: echo ship}
"""


@pytest.mark.parametrize(
    ("rule", "votes", "outcome", "last"),
    [
        ("majority", ["approve", "reject", "approve"], "succeeded", "ship"),
        ("unanimous", ["approve", "reject", "approve"], "failed", None),
        ("any", ["approve", "reject", "approve"], "succeeded", "ship"),
    ],
)
def test_members_vote_and_the_block_routes(run, scripted_llm, rule, votes, outcome, last):
    for vote in votes:  # replies come in the order of requests: each member calls first, then each says nothing
        scripted_llm.says(calls=[("verdict", {"verdict": vote, "note": "n"})])
    for _ in votes:
        scripted_llm.says("")
    result = run(ENSEMBLE % rule)
    assert result.outcome == outcome, result.error
    names = executed(result)
    assert names[:3] == ["a", "b", "c"]
    if last:
        assert last in names


def test_fixer_repairs_a_task_and_the_same_rule_judges_it(run, scripted_llm):
    scripted_llm.says(calls=[("write_file", {"path": "out/config.json", "content": "{}"})])
    scripted_llm.says(calls=[("rerun", {})]).says("Mended.")
    result = run("- {task: check, outputs: [out], run: test -f out/config.json, fix: a}")
    assert (result.outcome, executed(result)) == ("succeeded", ["a", "check"])


def test_green_task_never_builds_its_fixer(run, scripted_llm):
    assert executed(run("- {task: check, run: 'true', fix: a}")) == ["check"]
    assert scripted_llm.request_count == 0


def test_task_that_stays_red_names_its_fixer(run, scripted_llm):
    scripted_llm.says("I could not.")
    result = run("- {task: check, run: 'false', fix: a}")
    assert result.outcome == "failed"
    assert "agent `a` could not repair it" in result.error


def test_cells_are_named_and_a_failing_one_does_not_stop_the_others(run):
    result = run("- {task: t, across: [{var: n, values: [1, 2, 3]}], run: 'test {{ .vars.n }} != 2'}")
    assert (result.outcome, executed(result)) == ("failed", ["t [n=1]", "t [n=2]", "t [n=3]"])


MAKES = "- {task: make, outputs: [x], run: 'date +%s%N > x/f'}\n- {task: show, inputs: [x], run: cat x/f}"


def test_unchanged_step_is_reused_and_an_edit_runs_it_and_what_follows(run):
    first, second = run(MAKES), run(MAKES)
    assert second.steps[0].outcome == "reused"
    assert first.steps[1].text == second.steps[1].text
    third = run(MAKES.replace("date", "echo; date"))
    assert third.steps[0].outcome == "succeeded"


def test_volatile_step_and_a_run_in_memory_reuse_nothing(run):
    volatile = MAKES.replace("{task: make,", "{task: make, volatile: true,")
    run(volatile)
    assert run(volatile).steps[0].outcome == "succeeded"
    run(MAKES)
    assert run(MAKES, store=None, memory=True).steps[0].outcome == "succeeded"


def test_guard_skips_only_its_step(run):
    result = run("- {task: t, run: 'true', when: 'false'}\n- {task: u, run: 'true', when: 'true'}")
    assert (result.outcome, executed(result)) == ("succeeded", ["u"])


def test_attempts_try_a_step_again_until_it_succeeds(run, tmp_path):
    count = tmp_path / "count"
    result = run(f"- {{task: t, attempts: 3, run: 'echo x >> {count}; test $(wc -l < {count}) = 2'}}")
    assert (result.outcome, executed(result)) == ("succeeded", ["t"])
    assert count.read_text() == "x\nx\n"


def test_job_that_is_over_its_time_begins_no_further_step(run):
    result = run("- {task: t, run: sleep 1.2}\n- {task: u, run: 'true'}", job="timeout: 1s")
    assert (result.outcome, executed(result)) == ("failed", ["t"])


@pytest.mark.parametrize(("answer", "outcome"), [("approve", "succeeded"), ("reject: not on a Friday", "failed")])
def test_approval_goes_on_or_fails(run, answer, outcome):
    result = run(
        "- approval: {name: ship, message: Ship it now?}\n- {task: t, run: 'true'}", answers={"ship it": answer}
    )
    assert result.outcome == outcome
    if outcome == "failed":
        assert "not on a Friday" in result.error


def test_serial_job_runs_once_at_a_time(run, tmp_path):
    log = tmp_path / "log"
    plan = f"- {{task: t, run: 'echo in >> {log}; sleep 0.5; echo out >> {log}'}}"
    handles = [run(plan, job="serial: true", start=True) for _ in range(3)]
    assert [handle.result().outcome for handle in handles] == ["succeeded"] * 3
    assert log.read_text().split() == ["in", "out"] * 3


def test_jobs_without_serial_run_side_by_side(run, tmp_path):
    log = tmp_path / "log"
    plan = f"- {{task: t, run: 'echo in >> {log}; sleep 1; echo out >> {log}'}}"
    handles = [run(plan, start=True) for _ in range(2)]
    assert [handle.result().outcome for handle in handles] == ["succeeded"] * 2
    assert log.read_text().split() == ["in", "in", "out", "out"]

"""Which results are never taken over, each with its reason."""

import pytest

from stepsnb.plan import expand, reusable

from .pipelines import node_of, plan_of

TASK = {"task": "build", "run": "make", "outputs": ["out"]}
AGENT = {"agent": "writer", "prompt": "Write.", "outputs": ["out"]}
DECIDES = {"agent": "helper", "prompt": "Decide.", "verdicts": ["yes", "no"]}
HOOK = {"task": "tell", "run": "mail", "outputs": ["mail"]}
RESOURCES = {"resources": [{"name": "repo", "type": "path", "source": {"path": "repo"}}]}
TYPES = {
    "resource_types": [{"name": "sites", "config": {"check": "echo '[]'", "in": "true", "out": "true"}}],
    "resources": [{"name": "site", "type": "sites", "source": {}}],
}


@pytest.mark.parametrize("step", [TASK, AGENT, {**TASK, "when": "true"}])
def test_a_task_or_agent_step_with_outputs_may_be_reused(step):
    assert reusable(node_of(step)) is None


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"task": "build", "run": "make"}, "without outputs there is nothing to reuse"),
        ({"agent": "writer", "prompt": "Write."}, "without outputs there is nothing to reuse"),
        ({**TASK, "volatile": True}, "volatile"),
        ({**AGENT, "volatile": True}, "volatile"),
        ({**AGENT, "verdicts": ["yes", "no"]}, "decisions are made each time"),
        ({**TASK, "to": {"failure": "next"}}, "steps with `to:` always run"),
        ({**TASK, "ensure": HOOK}, "steps with hooks always run"),
        ({**AGENT, "on_abort": HOOK}, "steps with hooks always run"),
        ({**TASK, "fix": "fixer"}, "makes this chain uncacheable (fix: agent)"),
        ({"approval": {"message": "Go on?"}}, "approvals are asked for each time"),
        ({"do": [TASK]}, "its steps are looked at one by one"),
        ({"try": TASK}, "its steps are looked at one by one"),
        ({"in_parallel": {"steps": [TASK]}}, "its steps are looked at one by one"),
        ({"race": {"steps": [TASK]}}, "its steps are looked at one by one"),
        ({**TASK, "across": [{"var": "a", "values": ["1"]}]}, "its cells are looked at one by one"),
    ],
)
def test_other_steps_always_run_and_say_why(step, reason):
    assert reusable(node_of(step)) == reason


def test_gets_and_puts_always_run():
    assert reusable(node_of({"get": "repo"}, **RESOURCES)) == "gets always look for a new version"
    assert reusable(node_of({"put": "site", "inputs": []}, **TYPES)) == "puts always run"


def test_a_variable_is_read_each_time():
    plan = plan_of(TASK, {"load_var": "name", "file": "out/name", "inputs": ["out"]})

    assert reusable(plan.nodes[1]) == "its file is read each time"


def test_a_step_that_reads_decisions_always_runs():
    plan = plan_of(DECIDES, {**TASK, "context": {"from": {"helper": "verdict"}}})

    assert reusable(plan.nodes[1]) == "steps that read decisions always run"


def test_members_of_an_ensemble_always_vote():
    members = [{"agent": "writer", "prompt": "Vote."}, {"agent": "helper", "prompt": "Vote."}]
    block = node_of({"ensemble": {"verdicts": ["yes", "no"], "agents": members}})

    assert [reusable(node) for node in block.walk()] == [
        "its steps are looked at one by one",
        "votes are asked for each time",
        "votes are asked for each time",
    ]


def test_hooks_and_what_is_in_them_always_run():
    hook = node_of({**TASK, "ensure": {"do": [HOOK]}}).hooks["ensure"]

    assert {reusable(node) for node in hook.walk()} == {"hooks always run"}


def test_cells_may_be_reused_unless_their_matrix_has_hooks_or_routes():
    axes = [{"var": "a", "values": ["1", "2"]}]

    assert reusable(node_of({**TASK, "across": axes}).children[1]) is None
    assert reusable(node_of({**TASK, "across": axes, "ensure": HOOK}).children[1]) == "steps with hooks always run"
    assert reusable(node_of({**TASK, "across": axes, "to": {"failure": "next"}}).children[1]) == (
        "steps with `to:` always run"
    )


def test_a_fix_makes_every_step_behind_it_run():
    plan = plan_of(TASK, {**TASK, "task": "test", "fix": "fixer"}, {**TASK, "task": "pack"}, {"do": [AGENT]})

    assert [reusable(node) for node in plan.walk()] == [
        None,
        "makes this chain uncacheable (fix: agent)",
        "`test` makes this chain uncacheable (fix: agent)",
        "its steps are looked at one by one",
        "`test` makes this chain uncacheable (fix: agent)",
    ]


def test_a_fix_inside_a_block_or_hook_counts_for_what_follows_the_block():
    fixed = {"task": "test", "run": "test", "fix": "fixer"}
    branches = {"in_parallel": {"steps": [fixed, TASK]}}
    hooked = {"task": "a", "run": "a", "on_failure": fixed}

    plan = plan_of(branches, {**TASK, "task": "pack"})
    assert reusable(plan.nodes[0].children[1]) is None
    assert reusable(plan.nodes[1]) == "`test` makes this chain uncacheable (fix: agent)"
    assert reusable(plan_of(hooked, TASK).nodes[1]) == "`test` makes this chain uncacheable (fix: agent)"


def test_cells_behind_a_fix_always_run():
    steps = [
        {**TASK, "fix": "fixer"},
        {**AGENT, "across": [{"var": "a", "from_file": "out/a.json"}], "inputs": ["out"]},
    ]
    matrix = plan_of(*steps, {"task": "end", "run": "end"}).nodes[1]

    assert reusable(expand(matrix, {"a": ["1"]})[0]) == "`build` makes this chain uncacheable (fix: agent)"

"""Planning is a function of the pipeline: every step's place, path, name, and what stands inside it."""

import pytest

from stepsnb.config import load_text
from stepsnb.errors import InputError
from stepsnb.plan import build_nodes, build_plan, judge_node, rehash

from .pipelines import AGENTS, node_of, pipeline_of, plan_of

TEXT = """
jobs:
- name: build
  plan:
  - {task: tick, run: echo}
  - {task: tick, run: echo again}
- {name: test, plan: [{task: check, run: echo}]}
"""


def task(name, **more):
    return {"task": name, "run": name, **more}


def places(nodes):
    return [(node.index, node.path, node.name, node.kind) for node in nodes]


def test_steps_are_numbered_in_order():
    pipeline = load_text(TEXT)

    plan = build_plan(pipeline, "build")

    assert plan.job is pipeline.jobs[0]
    assert places(plan.nodes) == [(0, "0", "tick", "task"), (1, "1", "tick", "task")]
    assert [node.step for node in plan.nodes] == list(pipeline.jobs[0].plan)


def test_job_must_be_told_when_there_are_several():
    with pytest.raises(InputError, match="has 2 jobs, so name one: build, test"):
        build_plan(load_text(TEXT))


def test_steps_stand_inside_their_blocks():
    plan = plan_of(
        task("a"),
        {"do": [task("b"), {"in_parallel": {"steps": [task("c"), task("d")]}}]},
        {"race": {"steps": [task("e")]}},
        {"try": task("f")},
    )

    assert places(plan.walk()) == [
        (0, "0", "a", "task"),
        (1, "1", "do", "do"),
        (2, "1.0", "b", "task"),
        (3, "1.1", "in_parallel", "in_parallel"),
        (4, "1.1.0", "c", "task"),
        (5, "1.1.1", "d", "task"),
        (6, "2", "race", "race"),
        (7, "2.0", "e", "task"),
        (8, "3", "f", "try"),
        (9, "3.0", "f", "task"),
    ]
    inner = plan.nodes[1].children[1]
    assert inner.parent is plan.nodes[1]
    assert inner.children[0].parent is inner
    assert plan.nodes[0].parent is None


def test_members_stand_inside_their_ensemble():
    members = [{"agent": "writer", "prompt": "Vote."}, {"agent": "helper", "prompt": "Vote."}]
    node = node_of({"ensemble": {"verdicts": ["yes", "no"], "agents": members}})

    assert places(node.children) == [(1, "0.0", "writer", "agent"), (2, "0.1", "helper", "agent")]


def test_hooks_have_the_place_of_their_step():
    plan = plan_of(task("a", ensure={"do": [task("b")]}, on_failure=task("c")), task("d"))

    assert places(plan.walk()) == [(0, "0", "a", "task"), (1, "1", "d", "task")]
    hooks = plan.nodes[0].hooks
    assert places(hooks["ensure"].walk()) == [(0, "0.ensure", "do", "do"), (0, "0.ensure.0", "b", "task")]
    assert places([hooks["on_failure"]]) == [(0, "0.on_failure", "c", "task")]
    assert hooks["ensure"].parent is plan.nodes[0]
    assert all(node.is_hook for node in hooks["ensure"].walk())


def test_hooks_of_the_job_are_the_plans_own():
    plan = plan_of(jobs=[{"name": "job", "plan": [task("a")], "ensure": task("b")}])

    assert places(plan.hooks.values()) == [(1, "ensure", "b", "task")]
    assert plan.hooks["ensure"].parent is None


def test_notes_that_another_step_reads_are_wanted_wherever_that_stands():
    decides = {"agent": "writer", "prompt": "Decide.", "verdicts": ["yes", "no"]}
    other = {"agent": "helper", "prompt": "Decide.", "verdicts": ["yes", "no"]}
    reads = task("a", context={"from": {"writer": "note", "helper": "verdict"}})

    assert plan_of(decides, other, {"do": [reads]}).notes_wanted == {"writer"}
    assert plan_of(decides, other, task("b", ensure=reads)).notes_wanted == {"writer"}
    assert plan_of(decides, other).notes_wanted == frozenset()


def test_steps_of_a_cell_are_nodes_with_a_prefix():
    pipeline = pipeline_of(task("a"))
    step = task("b")
    [loaded] = pipeline_of(step).jobs[0].plan

    nodes = build_nodes(pipeline, [loaded], prefix="cell1.", first_index=7, previous="before")

    assert places(nodes) == [(7, "cell1.0", "b", "task")]
    assert nodes[0].previous == "before"
    assert nodes[0].hash != build_nodes(pipeline, [loaded])[0].hash


def test_the_judge_is_a_node_of_its_ensemble():
    members = [{"agent": "writer", "prompt": "Vote."}]
    judge = {"name": "judge", "source": {"model": "openrouter/one/model"}}
    block = {"ensemble": {"verdicts": ["yes", "no"], "decide": "judge", "agents": members}}
    pipeline = pipeline_of(block, {"agent": "judge", "prompt": "Judge."}, agents=[*AGENTS, judge])
    plan = build_plan(pipeline)

    node = judge_node(plan.nodes[0], plan.nodes[1].step)

    assert places([node]) == [(0, "0.judge", "judge", "agent")]
    assert node.parent is plan.nodes[0]
    assert node.hash


def test_a_step_that_got_its_variables_has_another_hash():
    node = node_of(task("a"))
    changed = node.step.model_copy(update={"run": "a b"})

    assert rehash(node).hash == node.hash
    node.step = changed
    assert rehash(node).hash == node_of(task("a", run="a b")).hash


def test_a_block_is_hashed_with_what_it_holds():
    node = node_of({"do": [task("a")], "ensure": task("b")})

    assert rehash(node).hash == node.hash


def test_a_cell_that_got_its_variables_stays_a_cell():
    cell = node_of(task("a", across=[{"var": "x", "values": ["1", "2"]}])).children[1]

    assert rehash(cell).hash == cell.hash

"""Laws of hashes: an edit changes its step and every later one, and nothing before it."""

import json
import os
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from stepsnb.plan import inputs_of, outputs_of

from .pipelines import plan_of

law = settings(deadline=None, max_examples=40)

words = st.text("abc XYZ 09 \"'\\:#-{}[]é漢", min_size=1, max_size=20).filter(str.strip)
keys = st.from_regex(r"[A-Z_]{1,6}", fullmatch=True)


@st.composite
def leaves(draw):
    step = {"task": draw(st.sampled_from(["a", "b", "c"])), "run": f"echo {draw(words)}"}
    if draw(st.booleans()):
        step["env"] = draw(st.dictionaries(keys, words, min_size=1, max_size=3))  # an empty one is as good as none
    if draw(st.booleans()):
        step["when"] = draw(words)
    if draw(st.integers(0, 3)) == 0:
        step = {"agent": "writer", "messages": draw(st.lists(words, min_size=1, max_size=3))}
    return step


def blocks(inner):
    some = st.lists(inner, min_size=1, max_size=3)
    return (
        some.map(lambda steps: {"do": steps})
        | some.map(lambda steps: {"in_parallel": {"steps": steps}})
        | inner.map(lambda step: {"try": step})
    )


steps = st.recursive(leaves(), blocks, max_leaves=6)
plans = st.lists(steps, min_size=1, max_size=6)


def touched(step):
    """Change what one step does: a message, a command, or those inside a block."""
    match step:
        case {"task": _}:
            return {**step, "run": step["run"] + " # touched"}
        case {"agent": _}:
            return {**step, "messages": [*step["messages"], "touched"]}
        case {"do": [first, *rest]}:
            return {"do": [touched(first), *rest]}
        case {"in_parallel": {"steps": [first, *rest]}}:
            return {"in_parallel": {"steps": [touched(first), *rest]}}
        case {"try": inner}:
            return {"try": touched(inner)}
    raise AssertionError(step)


def hashes(steps):
    return [node.hash for node in plan_of(*steps).nodes]


@law
@given(steps=plans, data=st.data())
def test_editing_a_step_changes_its_hash_and_every_later_one(steps, data):
    k = data.draw(st.integers(0, len(steps) - 1))
    edited = [*steps[:k], touched(steps[k]), *steps[k + 1 :]]

    before, after = hashes(steps), hashes(edited)

    assert before[:k] == after[:k]
    assert all(x != y for x, y in zip(before[k:], after[k:], strict=True))


@law
@given(steps=plans)
def test_a_plan_has_the_same_hashes_each_time(steps):
    assert [node.hash for node in plan_of(*steps).walk()] == [node.hash for node in plan_of(*steps).walk()]


@law
@given(steps=plans)
def test_every_node_has_a_place_a_path_and_a_hash_of_its_own(steps):
    nodes = list(plan_of(*steps).walk())

    assert [node.index for node in nodes] == list(range(len(nodes)))
    assert len({node.path for node in nodes}) == len(nodes)
    leaves = [node.hash for node in nodes if not node.children]
    assert len(set(leaves)) == len(leaves)


@law
@given(step=steps, count=st.integers(2, 4))
def test_branches_that_do_the_same_are_told_apart(step, count):
    node = plan_of({"in_parallel": {"steps": [step] * count}}).nodes[0]

    leaves = [each.hash for each in node.walk() if not each.children]
    assert len(set(leaves)) == len(leaves)
    assert [each.index for each in node.walk()] == list(range(len(list(node.walk()))))


@law
@given(steps=plans, data=st.data())
def test_a_bound_of_a_step_changes_no_hash(steps, data):
    k = data.draw(st.integers(0, len(steps) - 1))
    bounded = [*steps[:k], {**steps[k], "timeout": "7m"}, *steps[k + 1 :]]

    assert hashes(steps) == hashes(bounded)


@law
@given(branches=st.lists(leaves(), min_size=2, max_size=4), data=st.data())
def test_an_edit_in_a_branch_leaves_the_others_as_they_are(branches, data):
    k = data.draw(st.integers(0, len(branches) - 1))
    edited = [*branches[:k], touched(branches[k]), *branches[k + 1 :]]

    before, after = (plan_of({"in_parallel": {"steps": each}}, branches[0]).nodes for each in (branches, edited))

    others = [j for j in range(len(branches)) if j != k and branches.count(branches[j]) == 1]
    assert all(before[0].children[j].hash == after[0].children[j].hash for j in others)
    assert before[0].hash != after[0].hash
    assert before[1].hash != after[1].hash


@law
@given(data=st.data())
def test_the_order_of_keys_is_no_difference(data):
    env = data.draw(st.dictionaries(keys, words, min_size=2, max_size=5))
    shuffled = dict(data.draw(st.permutations(list(env.items()))))

    one, other = (plan_of({"task": "a", "run": "a", "env": each}).nodes[0] for each in (env, shuffled))

    assert one.hash == other.hash


@law
@given(names=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True), data=st.data())
def test_artifacts_go_in_and_out_under_the_names_they_are_mapped_to(names, data):
    mapped = data.draw(st.dictionaries(st.sampled_from(names), st.sampled_from(["x", "y", "z"])))
    made = sorted({mapped.get(name, name) for name in names})
    steps = [
        {"task": "make", "run": "make", "outputs": made},
        {"task": "use", "run": "use", "inputs": names, "input_mapping": mapped},
        {"task": "end", "run": "end", "outputs": names, "output_mapping": {name: f"{name}-2" for name in mapped}},
    ]

    first, second, third = plan_of(*steps).nodes

    assert outputs_of(first.step) == {name: name for name in made}
    assert inputs_of(second.step) == {name: mapped.get(name, name) for name in names}
    assert outputs_of(third.step) == {name: f"{name}-2" if name in mapped else name for name in names}


def test_another_process_finds_the_same_hashes():
    steps = [{"task": "a", "run": "a", "env": {"A": "1", "B": "2"}}, {"agent": "writer", "prompt": "Go."}]
    program = f"from tests.plan.test_laws import hashes; import json; print(json.dumps(hashes({json.dumps(steps)})))"

    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        )
        assert json.loads(done.stdout) == hashes(steps)

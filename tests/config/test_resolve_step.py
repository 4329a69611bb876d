"""Steps that wait for variables which `load_var` sets during the run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.config import load_steps, load_text, resolve_step
from stepsnb.errors import ConfigError

HEAD = """agents: [{name: a, source: {model: m/x}}, {name: b, source: {model: m/x}}]
tasks: [{name: unit, run: echo, fix: a}]
jobs:
- name: build
  plan:
  - {task: make, run: echo, outputs: [out]}
  - {load_var: n, file: out/n, inputs: [out]}
"""


def load(step, **variables):
    return load_text(HEAD + f"  {step}\n", file="p.yml", variables=variables)


def test_placeholder_of_a_step_before_stays(load_plan):
    pipeline = load("- {agent: a, prompt: Do ((n)) of ((m))., max_turns: ((n))}", m="4")
    step = pipeline.jobs[0].plan[2]

    assert step.messages == ("Do ((n)) of 4.",)
    assert step.max_turns is None
    assert step.deferred.names == {"n"}


def test_value_takes_the_type_of_its_field():
    pipeline = load("- {agent: a, prompt: Do ((n))., max_turns: ((n)), timeout: ((n))m}")
    step = resolve_step(pipeline.jobs[0].plan[2], {"n": "7"}, pipeline)

    assert (step.messages, step.max_turns, step.timeout_s) == (("Do 7.",), 7, 420.0)
    assert step.deferred is None
    assert str(step.where) == "p.yml:8:5"


def test_value_that_does_not_fit_is_an_error_at_its_place():
    pipeline = load("- {agent: a, prompt: Go., max_turns: ((n))}")

    with pytest.raises(ConfigError) as caught:
        resolve_step(pipeline.jobs[0].plan[2], {"n": "many"}, pipeline)

    assert str(caught.value) == (
        "p.yml:8:40: job `build`, step 3 (agent `a`): `max_turns: many` must be a whole number; "
        "write digits only, such as `30`"
    )


def test_rules_of_the_step_hold_for_the_value():
    pipeline = load("- {task: t, run: echo, inputs: [out], across: [{var: x, values: [a, ((n))]}]}")

    with pytest.raises(ConfigError, match="`a` stands twice in `values:`"):
        resolve_step(pipeline.jobs[0].plan[2], {"n": "a"}, pipeline)


def test_step_that_waits_for_nothing_is_itself():
    pipeline = load("- {task: t, run: echo}")
    step = pipeline.jobs[0].plan[2]

    assert resolve_step(step, {"n": "1"}, pipeline) is step


def test_step_without_the_value_is_itself():
    pipeline = load("- {task: t, run: echo ((n))}")
    step = pipeline.jobs[0].plan[2]

    assert resolve_step(step, {"m": "1"}, pipeline) is step


def test_block_waits_for_its_own_keys_alone():
    pipeline = load("- {in_parallel: {steps: [{task: t, run: echo ((n))}]}, when: test ((n)) = 1}")
    block = pipeline.jobs[0].plan[2]

    assert block.deferred.names == {"n"}
    assert resolve_step(block, {"n": "1"}, pipeline).when == "test 1 = 1"
    assert resolve_step(block.steps[0], {"n": "1"}, pipeline).run == "echo 1"


def test_block_does_not_wait_for_what_its_steps_use():
    pipeline = load("- {do: [{task: t, run: echo ((n))}]}")

    assert pipeline.jobs[0].plan[2].deferred is None


def test_values_that_come_later_are_waited_for():
    pipeline = load("- do:\n    - {load_var: m, file: out/m, inputs: [out]}\n    - {task: t, run: echo ((n)) ((m))}")
    step = pipeline.jobs[0].plan[2].steps[1]

    half = resolve_step(step, {"n": "1"}, pipeline)

    assert half.run == "echo 1 ((m))"
    assert resolve_step(half, {"m": "2"}, pipeline).run == "echo 1 2"


def test_member_keeps_the_verdicts_of_its_ensemble():
    votes = "- ensemble: {verdicts: [yes, no], agents: [{agent: a, prompt: Is ((n)) good?}, {agent: b, prompt: And?}]}"
    pipeline = load(votes)
    member = resolve_step(pipeline.jobs[0].plan[2].members[0], {"n": "1"}, pipeline)

    assert (member.messages, member.verdicts) == (("Is 1 good?",), ("yes", "no"))


def test_program_of_an_entry_stays_with_the_step():
    pipeline = load("- {task: unit, env: {N: ((n))}}")
    step = resolve_step(pipeline.jobs[0].plan[2], {"n": "1"}, pipeline)

    assert (step.run, step.env, step.fix.agent) == ("echo", {"N": "1"}, "a")


def test_text_of_a_file_waits_like_text_written_here(tmp_path):
    (tmp_path / "run.sh").write_text("echo ((n)) $((n))\n")
    text = HEAD + "  - {task: t, run_file: run.sh}\n"
    pipeline = load_text(text, base_dir=tmp_path)
    (tmp_path / "run.sh").unlink()

    assert resolve_step(pipeline.jobs[0].plan[2], {"n": "1"}, pipeline).run == "echo 1 $((n))\n"


def test_value_from_outside_holds_before_the_step_that_sets_it():
    pipeline = load_text(HEAD.replace("run: echo, out", "run: echo ((n)), out"), variables={"n": "0"})

    assert pipeline.jobs[0].plan[0].run == "echo 0"


def test_steps_of_a_cell_wait_for_each_other():
    pipeline = load("- {task: t, run: echo}")
    text = "- {load_var: k, file: out/k, inputs: [out]}\n- {agent: a, prompt: Go., max_turns: ((k))}"
    _, step = load_steps(text, pipeline=pipeline, job="build", file="<cell>")

    assert resolve_step(step, {"k": "3"}, pipeline).max_turns == 3
    with pytest.raises(ConfigError, match=r"^<cell>:2:38: job `build`, step 2 \(agent `a`\): `max_turns: x` must be"):
        resolve_step(step, {"k": "x"}, pipeline)


def test_try_around_a_load_var_is_transparent():
    pipeline = load("- try: {load_var: m, file: out/m, inputs: [out]}\n  - {task: t, run: echo ((m))}")

    assert pipeline.jobs[0].plan[3].deferred.names == {"m"}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(lambda text: text.strip()))
def test_any_text_arrives_as_it_is(value):
    pipeline = load("- {agent: a, prompt: ((n)), env: {N: <((n))>}}")
    step = resolve_step(pipeline.jobs[0].plan[2], {"n": value}, pipeline)

    assert (step.messages, step.env) == ((value,), {"N": f"<{value}>"})

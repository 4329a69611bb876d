"""Runs that go on from cell to cell, and what is refused there."""

import pytest

import stepsnb
from stepsnb.errors import ConfigError, InputError

TEXT = """
jobs:
- name: j
  plan:
  - {task: a, run: 'sleep ((s)); echo a'}
  - {task: b, run: echo b}
"""


@pytest.fixture
def opened(tmp_path):
    return stepsnb.load(TEXT, vars={"s": "0"}).open(store=tmp_path)


def test_second_part_while_one_runs_is_refused(tmp_path):
    opened = stepsnb.load(TEXT, vars={"s": "60"}).open(store=tmp_path)
    first = opened.next()
    with pytest.raises(InputError) as caught:
        opened.next()
    assert str(caught.value) == f"run {opened.run_id} is still running a step; wait for it or stop it first"
    first.cancel()
    assert first.result().outcome == "aborted"
    assert (opened.is_finished, opened.remaining) == (True, [])


@pytest.mark.parametrize("part", ["next", "finish"])
def test_ended_run_takes_no_further_part(opened, part):
    opened.finish().result()
    with pytest.raises(InputError) as caught:
        getattr(opened, part)().result()
    assert str(caught.value) == f"run {opened.run_id} has ended (succeeded); `%steps load` starts a new one"


def test_steps_of_a_cell_see_the_variables_of_the_pipeline_and_of_the_cell(tmp_path):
    opened = stepsnb.load(TEXT, vars={"s": "0"}).open(store=tmp_path, vars={"s": "1"})
    assert opened.run_steps("- {task: x, run: echo ((s))}").result().text == "1\n"
    assert opened.run_steps("- {task: x, run: echo ((s))}", vars={"s": "2"}).result().text == "2\n"
    opened.finish().result()


def test_wrong_steps_of_a_cell_are_refused_and_the_run_stays_open(opened):
    with pytest.raises(ConfigError, match=r"^<cell>:1:3: step 1 \(task `x`\)"):
        opened.run_steps("- task: x")
    assert opened.next().result().outcome is None


def test_steps_of_a_cell_leave_the_plan_where_it_was(opened):
    opened.run_steps("- {task: b, run: 'true'}").result()
    assert opened.remaining == ["a", "b"]
    assert [step.name for step in opened.step("b").result().steps] == ["b", "a", "b"]


def test_input_nobody_made_is_errored_with_what_to_do(opened):
    run = opened.run_steps("- {task: x, inputs: [data], run: ls}").result()
    assert (run.outcome, run.error) == (
        "errored",
        "step `x` errored: input `data` is not there yet; run what makes it first",
    )

"""Running an earlier step or cell again: a new run with what was there before it, and without what came after."""

import pytest

import stepsnb
from stepsnb.errors import InputError
from stepsnb.events import StepTakenOver

TEXT = """
jobs:
- name: job
  plan:
  - {task: a, outputs: [x], run: 'date +%s%N > x/f', volatile: true}
  - {task: b, inputs: [x], outputs: [y], run: 'cp x/f y/f; date +%s%N >> y/f', volatile: true}
  - {task: c, inputs: [y], run: cat y/f}
"""


def test_fork_takes_over_what_was_before_and_runs_the_step_again(tmp_path):
    pipeline = stepsnb.load(TEXT)
    first = pipeline.open(store=tmp_path)
    for _ in range(3):
        ended = first.next().result()
    before = ended.files["y/f"].read_text()
    forked = pipeline.fork(first, from_step="b", store=tmp_path)
    again = forked.step("b").result()
    assert forked.run_id != first.run_id
    assert [step.name for step in again.steps] == ["a", "b"]
    assert again.files["y/f"].read_text().splitlines()[0] == before.splitlines()[0]  # the same `a`
    assert again.files["y/f"].read_text() != before
    assert forked.remaining == ["c"]
    runs = stepsnb.runs(store=tmp_path).set_index("run_id")
    assert runs.loc[forked.run_id, "forked_from"] == first.run_id
    assert runs.loc[first.run_id, "outcome"] == "succeeded"
    steps = stepsnb.steps(forked.run_id, store=tmp_path)
    assert steps["name"].tolist() == ["b"]  # what was taken over is not recorded again


def test_cell_run_again_forks_before_its_first_step(tmp_path):
    pipeline = stepsnb.load(TEXT)
    first = pipeline.open(store=tmp_path)
    first.next().result()
    cell = "- {task: extra, inputs: [x], outputs: [z], run: 'cp x/f z/f'}\n"
    first.run_steps(cell).result()
    first.run_steps("- {task: later, inputs: [z], run: cat z/f}\n").result()
    assert first.first_step_of(cell) == "extra"
    forked = pipeline.fork(first, from_step="extra", store=tmp_path)
    again = forked.run_steps(cell).result()
    assert [step.name for step in again.steps] == ["a", "extra"]
    assert forked.remaining == ["b", "c"]


def test_view_of_a_fork_says_which_steps_were_taken_over_and_which_are_to_come(tmp_path):
    pipeline = stepsnb.load(TEXT)
    first = pipeline.open(store=tmp_path)
    first.step("b").result()
    forked = pipeline.fork(first, from_step="b", store=tmp_path)
    run = forked.next().result()
    shown = run._repr_html_()
    assert f"taken over from run {first.run_id}" in shown
    assert shown.count("to come") == 1
    replayed = stepsnb.replay(first.run_id, from_step="b", store=tmp_path)
    assert f"taken over from run {first.run_id}" in replayed._repr_html_()


def test_replay_of_a_fork_names_the_run_that_has_the_record(tmp_path):
    pipeline = stepsnb.load(TEXT)
    ended = pipeline.run(store=tmp_path)
    middle = stepsnb.replay(ended.run_id, from_step="b", store=tmp_path)
    last = stepsnb.replay(middle.run_id, from_step="c", store=tmp_path)
    taken = [(e.name, e.from_run, e.artifacts) for e in last.events if isinstance(e, StepTakenOver)]
    assert taken == [("a", ended.run_id, ["x"]), ("b", middle.run_id, ["y"])]


def test_resumed_fork_tells_once_what_it_took_over(tmp_path):
    (tmp_path / "p.yml").write_text(TEXT.replace("run: cat y/f", "run: test -e ../go && cat y/f"))
    pipeline = stepsnb.load(tmp_path / "p.yml")
    first = pipeline.run(store=tmp_path)
    forked = stepsnb.replay(first.run_id, from_step="b", store=tmp_path)
    assert forked.outcome == "failed"
    resumed = stepsnb.resume(forked.run_id, store=tmp_path)
    assert [e.name for e in resumed.events if isinstance(e, StepTakenOver)] == ["a"]
    assert resumed._repr_html_().count(f"<td>taken over from run {first.run_id}</td>") == 1


def test_run_left_for_a_fork_has_no_outcome_and_says_where_it_went_on(tmp_path):
    pipeline = stepsnb.load(TEXT)
    first = pipeline.open(store=tmp_path)
    first.next().result()
    forked = pipeline.fork(first, from_step="a", store=tmp_path)
    left = first.leave(forked).result()
    assert (left.outcome, left.error) == (None, None)
    assert (first.is_finished, first.remaining) == (True, [])
    with pytest.raises(InputError, match=f"was left for run {forked.run_id}; go on there"):
        first.next().result()
    row = stepsnb.runs(store=tmp_path).set_index("run_id").loc[first.run_id]
    assert (row["state"], row["error"]) == ("left", f"left for run {forked.run_id}")
    assert row.isna()["outcome"]
    assert stepsnb.resume(first.run_id, store=tmp_path).outcome == "succeeded"


def test_run_that_has_ended_keeps_its_outcome_when_it_is_left(tmp_path):
    pipeline = stepsnb.load(TEXT)
    first = pipeline.open(store=tmp_path)
    first.step("c").result()
    forked = pipeline.fork(first, from_step="b", store=tmp_path)
    assert first.leave(forked).result().outcome == "succeeded"

"""Running an earlier step or cell again: a new run with what was there before it, and without what came after."""

import stepsnb

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

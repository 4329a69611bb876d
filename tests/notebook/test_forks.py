"""A cell that is run again begins a fork of the run before it."""

from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

JOB = """
jobs:
- name: j
  plan:
  - {task: a, run: "echo a > x/f", outputs: [x]}
  - {task: b, run: "cat x/f", inputs: [x]}
"""
CELL = '- {task: extra, inputs: [x], run: "cat x/f; echo again"}\n'


def test_cell_that_is_run_again_goes_on_in_a_new_run_with_what_was_before_it(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    (tmp_path / "p.yml").write_text(JOB)
    shell.run_line_magic("steps", "load p.yml")
    opened = shell.run_line_magic("steps", "next")
    first = shell.run_cell_magic("steps", "", CELL)

    again = shell.run_cell_magic("steps", "", CELL)

    assert (first.run_id == opened.run_id, again.run_id == opened.run_id) == (True, False)
    assert (first.text, again.text) == ("a\nagain\n", "a\nagain\n")
    assert [step.name for step in again.steps] == ["a", "extra"]
    runs = shell.run_line_magic("steps", "runs").set_index("run_id")
    assert runs.loc[again.run_id, "forked_from"] == opened.run_id
    assert runs.loc[opened.run_id, ["state", "error"]].tolist() == ["left", f"left for run {again.run_id}"]


def test_step_that_is_run_again_takes_the_same_way(shell: InteractiveShell, tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text(JOB)
    shell.run_line_magic("steps", "load p.yml")
    first = shell.run_line_magic("steps", "step a")

    again = shell.run_line_magic("steps", "step a")

    assert first.run_id != again.run_id
    assert [step.name for step in again.steps] == ["a"]
    assert shell.run_line_magic("steps", "next").text == "a\n"

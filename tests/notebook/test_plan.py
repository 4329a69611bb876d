"""`%steps plan` through a real shell."""

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from stepsnb.errors import InputError

TEXT = """
jobs:
- name: make
  plan:
  - {task: t, run: echo ((word)) > out/a, outputs: [out]}
- name: other
  plan:
  - {task: u, run: "true"}
"""


def test_the_loaded_job_is_planned_with_its_variables(shell: InteractiveShell, tmp_path: Path) -> None:
    (tmp_path / "p.yml").write_text(TEXT)
    shell.user_ns["word"] = "a"
    shell.run_line_magic("steps", f"load {tmp_path / 'p.yml'} --job make --use word")

    assert list(shell.run_line_magic("steps", "plan")["reason"]) == ["never ran"]
    shell.run_line_magic("steps", "run")
    assert list(shell.run_line_magic("steps", "plan")["action"]) == ["reuse"]
    assert list(shell.run_line_magic("steps", "plan other")["step"]) == ["u"]
    shell.user_ns["word"] = "b"
    assert list(shell.run_line_magic("steps", "plan --use word")["reason"]) == ["run changed"]


def test_planning_needs_a_pipeline(shell: InteractiveShell) -> None:
    with pytest.raises(InputError, match="no pipeline is loaded"):
        shell.run_line_magic("steps", "plan")

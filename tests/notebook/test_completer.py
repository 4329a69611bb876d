"""Tab completion on the magics' lines, through IPython's own completer."""

from pathlib import Path

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from . import pipelines


def offered(shell: InteractiveShell, text: str) -> list[str]:
    with provisionalcompleter():
        return sorted(c.text for c in shell.Completer.completions(text, len(text)))


@pytest.fixture
def loaded(shell: InteractiveShell, tmp_path: Path) -> InteractiveShell:
    pipelines.write_files(tmp_path)
    shell.run_line_magic("steps", "load relay_pipeline.yml")
    return shell


def test_verbs_come_after_steps(shell: InteractiveShell) -> None:
    assert offered(shell, "%steps r") == ["reject", "replay", "resume", "run", "runs"]
    assert offered(shell, "%steps ")[:3] == ["answer", "approvals", "approve"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%steps --jo", ["--job"]),
        ("%steps next --", ["--as", "--help"]),
        ("%%agent --use x --fi", ["--files"]),
    ],
)
def test_options_of_each_magic_are_offered(shell: InteractiveShell, text: str, expected: list[str]) -> None:
    assert offered(shell, text) == expected


def test_names_of_the_loaded_pipeline_are_offered(loaded: InteractiveShell) -> None:
    assert offered(loaded, "%steps run ") == ["relay"]
    assert offered(loaded, "%%steps --job r") == ["relay"]
    assert offered(loaded, "%%agent ") == ["reader"]
    assert offered(loaded, "%steps step ") == ["count", "reader", "write"]


@pytest.mark.parametrize("line", ["%steps step rea", "%steps run rela", "%%agent rea"])
def test_without_a_pipeline_there_are_no_names(shell: InteractiveShell, line: str) -> None:
    assert offered(shell, line) == []


def test_variables_are_offered_to_use(shell: InteractiveShell) -> None:
    shell.run_cell("paragraph = 'x'")

    assert "paragraph" in offered(shell, "%%agent writer --use par")


def test_files_and_folders_are_offered_as_paths(shell: InteractiveShell, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "menu.txt").touch()

    assert offered(shell, "%steps load da") == ["data/"]
    assert offered(shell, "%%agent writer --files data/") == ["data/menu.txt"]


def test_run_ids_come_from_the_store(loaded: InteractiveShell) -> None:
    loaded.run_line_magic("steps", "next --as r")
    run_id = loaded.user_ns["r"].run_id

    assert offered(loaded, "%steps transcript ") == [run_id]
    assert offered(loaded, "%steps copy ") == [f"{run_id}/"]
    assert offered(loaded, f"%steps copy {run_id}/") == [f"{run_id}/note"]


def test_completing_run_ids_makes_no_store(shell: InteractiveShell, tmp_path: Path) -> None:
    offered(shell, "%steps transcript ")

    assert not (tmp_path / ".steps").exists()


def test_other_lines_are_none_of_our_business(shell: InteractiveShell) -> None:
    shell.run_cell("stepsize = 1")

    assert "stepsize" in offered(shell, "steps")
    assert offered(shell, "%%steps\nste")[0] != "--answer"


def test_runs_and_their_steps_are_offered_to_go_on_with(loaded: InteractiveShell) -> None:
    loaded.run_line_magic("steps", "run --as r")
    run_id = loaded.user_ns["r"].run_id

    assert offered(loaded, "%steps resume ") == [run_id]
    assert offered(loaded, f"%steps replay {run_id} --from ") == ["count", "reader", "write"]
    assert offered(loaded, "%steps replay --from rea") == ["reader"]

"""The example notebooks: their stored outputs hold on the scripted model, and they run on the local one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.notebook import pipelines

_TOP = Path(__file__).parents[2]
_NOTEBOOKS = _TOP / "notebooks"
_SANITIZE = _TOP / "tests" / "nbval_sanitize.cfg"

_PATHS = sorted(_NOTEBOOKS.glob("*.ipynb"))

each_notebook = pytest.mark.parametrize("name", [path.name for path in _PATHS])
each_with_a_choice = pytest.mark.parametrize(
    "name", [path.name for path in _PATHS if "STEPSNB_MODEL" in path.read_text(encoding="utf-8")]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the notebooks folder, as `stepsnb demo` makes one."""
    return shutil.copytree(_NOTEBOOKS, tmp_path / "notebooks", ignore=shutil.ignore_patterns(".steps", ".ipynb_*"))


def test_there_are_notebooks() -> None:
    assert [path.name[:3] for path in _PATHS] == ["01_", "02_", "03_", "04_", "05_", "06_", "07_"]


def check_outputs(folder: Path, name: str) -> None:
    """Run a notebook again with nbval, on the scripted model, and compare its stored outputs."""
    environment = {key: value for key, value in os.environ.items() if key != "STEPSNB_MODEL"}
    command = ["-m", "pytest", "--nbval", "--nbval-current-env", f"--nbval-sanitize-with={_SANITIZE}", "-q", name]
    finished = subprocess.run(
        [sys.executable, *command, "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir=."],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert finished.returncode == 0, finished.stdout[-8000:] + finished.stderr[-2000:]


@each_notebook
def test_a_reader_sees_outputs_without_running_anything(folder: Path, name: str) -> None:
    book = nbformat.read(folder / name, as_version=4)

    assert any(cell.get("outputs") for cell in book.cells)


@each_notebook
def test_metadata_is_stripped_and_counts_are_kept(name: str) -> None:
    book = nbformat.read(_NOTEBOOKS / name, as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]

    assert {key for cell in book.cells for key in cell.metadata} <= {"tags"}
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


@each_notebook
def test_stored_outputs_are_what_the_scripted_model_gives(folder: Path, name: str) -> None:
    check_outputs(folder, name)


def test_runs_and_tables_compare_equal_when_they_run_again(tmp_path: Path) -> None:
    pipelines.write_files(tmp_path)
    sources = [
        "%load_ext stepsnb",
        f"%%steps --answer port=A\n{pipelines.ASK}",
        "%steps load relay_pipeline.yml",
        "%steps next",
        "last = %steps step count",
        "last",
        "%steps runs",
        "%steps cost",
        "%steps transcript",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(book, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    nbformat.write(book, tmp_path / "again.ipynb")
    shutil.rmtree(tmp_path / ".steps")

    check_outputs(tmp_path, "again.ipynb")


@pytest.mark.local_model
@pytest.mark.timeout(600)
@each_with_a_choice
def test_notebook_runs_on_the_local_model(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSNB_MODEL", "local/smollm2")
    book = nbformat.read(folder / name, as_version=4)

    NotebookClient(book, timeout=500, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()

    errors = [o for cell in book.cells for o in cell.get("outputs", []) if o.output_type == "error"]
    assert errors == []

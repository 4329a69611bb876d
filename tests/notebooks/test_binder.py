"""What Binder builds from its files: a clean environment in which the first notebook runs."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.binder import BINDER, ROOT, binder_program


def in_binder(folder: Path, *command: str) -> str:
    """Run a command with nothing of this process but the environment of Binder; return what it printed."""
    (folder / "home").mkdir(exist_ok=True)
    environment = {
        "HOME": str(folder / "home"),
        "PATH": f"{binder_program('python').parent}:/usr/bin:/bin",
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),  # the weights are not fetched
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_first_notebook_runs_in_what_binder_installs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks", ignore=shutil.ignore_patterns(".steps"))
    notebook = tmp_path / "notebooks" / "01_first_pipeline.ipynb"

    in_binder(tmp_path, "jupyter", "nbconvert", "--to", "notebook", "--execute", "--inplace", str(notebook))

    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    assert any("succeeded" in str(output.get("data")) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error"]


def test_stepsnb_comes_from_that_environment(tmp_path: Path) -> None:
    where = in_binder(tmp_path, "python", "-c", "import stepsnb; print(stepsnb.__file__)")

    assert Path(where.strip()).is_relative_to(binder_program("python").parent.parent)


def test_a_session_begins_with_the_model_whose_weights_are_in_the_image(tmp_path: Path) -> None:
    in_binder(tmp_path, str(BINDER / "postBuild"))

    assert in_binder(tmp_path, str(BINDER / "start"), "printenv", "STEPSNB_MODEL") == "local/smollm2\n"


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_what_binder_calls_can_be_executed(name: str) -> None:
    assert os.access(BINDER / name, os.X_OK)

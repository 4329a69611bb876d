"""`stepsnb demo`: the first thing a newcomer runs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from stepsnb.cli.demo_files import NOTEBOOK, copy_notebooks, notebooks_folder

from .conftest import COMMAND, value_of

SCRIPTED = "scripted/scripted/01_first_pipeline.yml"


def outputs_of(notebook: Path) -> list[dict]:
    cells = json.loads(notebook.read_text())["cells"]
    return [output for cell in cells for output in cell.get("outputs", [])]


def test_headless_demo_prints_the_report_and_what_it_cost(stepsnb, folder: Path):
    result = stepsnb("demo", "--headless", "--model", SCRIPTED)

    assert result.returncode == 0, result.stderr
    assert "The high water on Friday is at 06:31 with 4.1 m" in result.stdout
    assert "cost_usd" in result.stdout
    assert (folder / "stepsnb-demo" / "01_first_pipeline.executed.ipynb").is_file()


def test_notebook_as_shipped_is_left_as_it_was(stepsnb, folder: Path):
    stepsnb("demo", "--headless", "--model", SCRIPTED)

    assert (folder / "stepsnb-demo" / NOTEBOOK).read_bytes() == (notebooks_folder() / NOTEBOOK).read_bytes()


def test_json_is_all_there_is_on_standard_output(stepsnb):
    value = value_of(stepsnb("demo", "--headless", "--model", SCRIPTED, "--json"))

    assert set(value) == {"notebook", "model", "report", "cost"}
    assert value["model"] == SCRIPTED


def test_cell_that_fails_is_told_and_what_ran_is_kept(stepsnb, folder: Path):
    result = stepsnb("demo", "--headless", "--model", "nowhere/model")

    assert result.returncode == 2
    assert "01_first_pipeline.ipynb: " in result.stderr
    assert "unknown provider `nowhere`" in result.stderr
    assert "\x1b" not in result.stderr
    assert outputs_of(folder / "stepsnb-demo" / "01_first_pipeline.executed.ipynb")


def test_unknown_local_model_is_refused_before_a_kernel_starts(stepsnb):
    result = stepsnb("demo", "--headless", "--model", "local/gpt")

    assert (result.returncode, result.stderr) == (2, "unknown local model `gpt`; available: smollm2\n")


def test_edited_notebook_is_kept_and_the_person_is_told(tmp_path: Path):
    copy_notebooks(tmp_path / "demo")
    (tmp_path / "demo" / NOTEBOOK).write_text("mine")

    lines = copy_notebooks(tmp_path / "demo")

    assert (tmp_path / "demo" / NOTEBOOK).read_text() == "mine"
    assert lines[1:] == [f"keeping your demo/{NOTEBOOK}; delete it to get the original back"]


def test_missing_files_are_put_back(tmp_path: Path):
    copy_notebooks(tmp_path / "demo")
    (tmp_path / "demo" / "data" / "tides.csv").unlink()

    lines = copy_notebooks(tmp_path / "demo")

    assert (tmp_path / "demo" / "data" / "tides.csv").is_file()
    assert lines == ["the notebooks are in demo/"]


def test_missing_lab_is_told_with_what_to_install(folder: Path, stepsnb):
    blocker = folder / "sitecustomize.py"
    blocker.write_text("import sys\nsys.modules['jupyterlab'] = None\n")

    result = stepsnb("demo", env={"PYTHONPATH": str(folder)})

    assert (result.returncode, result.stderr) == (2, 'demo needs jupyterlab; run `pip install "stepsnb[lab,local]"`\n')


def test_lab_is_started_on_the_notebook_with_the_model_chosen(folder: Path, stepsnb):
    package = folder / "fake" / "jupyterlab"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['STEPSNB_MODEL'])\nsys.exit(3)\n"
    )

    result = stepsnb("demo", "--model", SCRIPTED, "--", "--no-browser", env={"PYTHONPATH": str(folder / "fake")})

    assert result.returncode == 3
    assert f"['{folder}/stepsnb-demo/{NOTEBOOK}', '--no-browser'] {SCRIPTED}" in result.stdout


def test_ending_the_command_ends_the_lab(folder: Path):
    package = folder / "fake" / "jupyterlab"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(
        [COMMAND, "demo", "--model", SCRIPTED],
        env={**os.environ, "PYTHONPATH": str(folder / "fake")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lab = next(int(line.split()[1]) for line in process.stdout if line.startswith("pid "))

    process.terminate()
    process.communicate(timeout=20)

    with pytest.raises(ProcessLookupError):
        os.kill(lab, 0)


@pytest.mark.local_model
def test_headless_demo_runs_on_the_real_local_model(stepsnb, folder: Path):
    result = stepsnb("demo", "--headless")

    assert result.returncode == 0, result.stderr
    assert "with local/smollm2" in result.stdout
    texts = json.dumps(outputs_of(folder / "stepsnb-demo" / "01_first_pipeline.executed.ipynb"))
    assert "local/smollm2" in texts
    assert "succeeded" in texts

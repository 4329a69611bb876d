"""The pipelines in cells of the example notebooks, read without running the notebooks."""

import re
from pathlib import Path

import nbformat
import pytest

import stepsnb
from stepsnb.cli.demo_files import copy_notebooks
from stepsnb.outcome import Outcome

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
REAL_MODELS = ["openai/gpt-5", "openrouter/anthropic/claude-sonnet-4.5", "ollama/qwen3:8b"]


def pipelines_of(name: str) -> list[str]:
    """The bodies of a notebook's `%%steps` cells, and the files it writes."""
    book = nbformat.read(NOTEBOOKS / name, as_version=4)
    sources = [cell.source for cell in book.cells if cell.cell_type == "code"]
    bodies = [source.partition("\n")[2] for source in sources if source.startswith("%%steps")]
    written = re.compile(r"""\.write_text\(("{3}|'{3})(.*?)\1\)""", re.S)
    return bodies + [found[2] for source in sources for found in written.finditer(source)]


def files_of(name: str) -> list[str]:
    """The pipelines beside a notebook that it names."""
    text = (NOTEBOOKS / name).read_text("utf-8")
    return [path.read_text("utf-8") for path in sorted(NOTEBOOKS.glob("*.yml")) if path.name in text]


NAMES = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
PRINTED = [(name, text) for name in NAMES for text in (*pipelines_of(name), *files_of(name))]


def test_every_notebook_has_a_pipeline() -> None:
    assert {name for name, _ in PRINTED} == set(NAMES)


def test_every_pipeline_beside_the_notebooks_belongs_to_one() -> None:
    used = "".join((NOTEBOOKS / name).read_text("utf-8") for name in NAMES)
    assert [path.name for path in NOTEBOOKS.glob("*.yml") if path.name not in used] == []


@pytest.mark.parametrize("model", REAL_MODELS)
@pytest.mark.parametrize(("name", "text"), PRINTED)
def test_pipeline_loads_with_a_real_model(name: str, text: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(NOTEBOOKS)

    values = {"model": model, "notice": "Low water at 12:48.", "python": "python3", "persona": "You write signs."}
    values["ship"] = "Nordlys"
    pipeline = stepsnb.load(text, name=name, vars=values).pipeline

    assert {agent.source.model or pipeline.defaults.model for agent in pipeline.agents} == {model}


def test_change_of_the_coding_agent_is_proved_by_tests_that_failed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(NOTEBOOKS)
    text = pipelines_of("02_coding_agent.ipynb")[0]

    run = stepsnb.load(text, vars={"model": "scripted/scripted/02_coding_agent.yml"}).run(store=tmp_path)

    said = {step.name: step.text for step in run.steps}
    assert (run.outcome, run.error) == (Outcome.SUCCEEDED, None)
    assert re.search(r"FAIL .*\n1 of 3 passed\n\Z", said["project"] or "", re.S)
    assert said["prove"] == "3 of 3 passed\n"
    assert run.files["project/tests.py"].read_bytes() == (NOTEBOOKS / "projects/bill/tests.py").read_bytes()


def test_revised_notice_is_translated_voted_on_and_printed_once_it_is_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(NOTEBOOKS)
    draft, sheet = pipelines_of("03_revise_vote_approve.ipynb")
    model = "scripted/scripted/03_revise_vote_approve.yml"

    revised = stepsnb.load(draft, vars={"model": model}).run(store=tmp_path)
    notice = revised.files["notice/notice.md"].read_text(encoding="utf-8").strip()
    loaded = stepsnb.load(sheet, vars={"model": model, "notice": notice})
    refused = loaded.run(store=tmp_path, answers={"print": "reject"})
    printed = loaded.run(store=tmp_path, answers={"print": "approve"})

    assert [step.verdict for step in revised.steps if step.name == "editor"] == ["revise", "print"]
    assert (refused.outcome, "sheet/sheet.md" in refused.files) == (Outcome.FAILED, False)
    assert (printed.outcome, printed.error) == (Outcome.SUCCEEDED, None)
    assert len(printed.files["sheet/sheet.md"].read_text(encoding="utf-8").splitlines()) == 3


def test_demo_copies_all_that_the_notebooks_need(tmp_path: Path) -> None:
    copy_notebooks(tmp_path)

    needed = {"data/tides.csv", "projects/bill/split.py", "projects/bill/tests.py", "scripted/02_coding_agent.yml"}
    assert needed <= {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}

"""Every valid pipeline holds what it asserts when it runs, and is red when any of its asserts is made false."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from stepsnb.api import LoadedPipeline, check_execution
from stepsnb.cli.main import main
from stepsnb.config import load_text
from stepsnb.events import StepFinished

from .mutations import Mutant, mutants_of
from .test_corpus import VALID, variables_of

AT_A_TIME = 4
"""Runs of one file's mutants at the same time: most of a run is waiting for shells to start and end."""


def options_of(path: Path, tmp: Path) -> list[str]:
    """Return the options of `stepsnb test` that stand on the file's `# with:` lines; `{tmp}` is an empty folder."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith("# with: ")]
    return [word.replace("{tmp}", str(tmp)) for line in lines for word in shlex.split(line.removeprefix("# with: "))]


def mutants(path: Path) -> list[Mutant]:
    """Return the mutants of a file, without those of the asserts that are false by intent: its `# unmet:` lines."""
    text = path.read_text("utf-8")
    unmet = {line.removeprefix("# unmet: ") for line in text.splitlines() if line.startswith("# unmet: ")}
    return [mutant for mutant in mutants_of(text) if mutant.name not in unmet]


@pytest.fixture(autouse=True)
def _scratch_stays_here(tmp_path, monkeypatch):
    """What a step makes with `mktemp` is gone with the test, also where its pipeline did not get to clean up."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(Path(__file__).parent / "valid")


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_pipeline_holds_its_asserts(path, tmp_path, capsys):
    status = main(["test", *options_of(path, tmp_path), path.name])

    assert status == 0, capsys.readouterr()


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_each_assert_that_is_made_false_is_noticed(path, tmp_path):
    def judge(numbered: tuple[int, Mutant]) -> str | None:
        number, mutant = numbered
        (tmp := tmp_path / str(number)).mkdir()
        return what_is_missed(path, mutant, tmp)

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        missed = [each for each in pool.map(judge, enumerate(mutants(path))) if each is not None]

    assert missed == []


def what_is_missed(path: Path, mutant: Mutant, tmp: Path) -> str | None:
    """Run a mutant; say which of its false parts nobody complained of, None when the run was red because of them."""
    loaded = LoadedPipeline(
        load_text(mutant.text, file=path.name, base_dir=path.parent, variables=given(path, tmp)), {}, None
    )
    if mutant.job is None:
        return None if check_execution(loaded) else mutant.name
    answers = dict(word.split("=", 1) for flag, word in pairwise(options_of(path, tmp)) if flag == "--answer")
    for job in loaded.jobs[: loaded.jobs.index(mutant.job) + 1]:
        run = loaded.run(job, store=tmp / "store", answers=answers or None)
    if run.outcome.is_good:
        return f"{mutant.name}: the run is {run.outcome}"
    reasons = [event.reason for event in run.events if isinstance(event, StepFinished)]
    said = " ".join(filter(None, [run.error, *reasons]))
    unsaid = [part for part in mutant.complaints if part not in said]
    return f"{mutant.name}: nothing is said of {unsaid}, only {said}" if unsaid else None


def given(path: Path, tmp: Path) -> dict[str, object]:
    """Return the values of the file's variables."""
    values = variables_of(path).items()
    return {name: v.replace("{tmp}", str(tmp)) if isinstance(v, str) else v for name, v in values}

"""What a run did is written into its pipeline as asserts, and the pipeline holds them."""

import shutil
from pathlib import Path

import pytest

import stepsnb
from stepsnb.cli.main import main
from stepsnb.config import Insertion, insert, load_text
from stepsnb.errors import InputError
from tests.corpus.test_corpus import VALID

PIPELINE = """\
# A pipeline that people wrote, with care.
agents:
- { name: judge, source: { model: MODEL }, tools: [ list_dir ] }   # kept short

jobs:
- name: review
  plan:
  # first the notes
  - task: make
    outputs: [notes]
    run: |
      echo tide > notes/a.txt
      # a comment of the program's own
      touch notes/empty.txt

  - { agent: judge, inputs: [notes], prompt: "Judge: ((x)).", verdicts: [ good, "no" ] }
  - do:
    - task: inner
      run: echo in
      assert: { code: 0 }

  # at last
"""


@pytest.fixture
def review(scripted_llm, tmp_path):
    """A run of the pipeline in a file."""
    file = tmp_path / "review.yml"
    file.write_text(PIPELINE.replace("MODEL", scripted_llm.model))
    scripted_llm.says(calls=[("list_dir", {})]).says(calls=[("verdict", {"verdict": "no"})]).says("Done.")
    run = stepsnb.run(file, vars={"x": "all"}, store=tmp_path / "store")
    assert run.outcome == "succeeded", run.error
    return run


def added(before, after):
    lines = before.splitlines()
    return [line for line in after.splitlines() if line not in lines]


def test_asserts_are_added_and_every_other_byte_stays(review, tmp_path):
    before = (tmp_path / "review.yml").read_text()
    frozen = stepsnb.freeze(review)
    assert frozen.text == before.replace(
        """      touch notes/empty.txt
""",
        """      touch notes/empty.txt
    assert: { code: 0, files: [notes/a.txt] }
""",
    ).replace(
        '[ good, "no" ] }',
        '[ good, "no" ], assert: { verdict: "no", tool_calls: [{ name: list_dir }] } }',
    ).replace(
        """      assert: { code: 0 }
""",
        """      assert: { code: 0 }
  assert: { execution: [make, judge, inner], outcome: succeeded }
""",
    )  # fmt: skip
    assert frozen.notes == ["step 2.0: `assert.code` is there already and stays as it is"]


def test_frozen_pipeline_passes_and_is_red_when_something_changes(review, scripted_llm, tmp_path, capsys):
    file = stepsnb.freeze(review).write()
    scripted_llm.says(calls=[("list_dir", {})]).says(calls=[("verdict", {"verdict": "no"})]).says("Done.")
    assert main(["test", str(file), "--var", "x=all"]) == 0, capsys.readouterr()
    scripted_llm.says(calls=[("verdict", {"verdict": "good"})]).says("Done.")
    assert main(["test", str(file), "--var", "x=all"]) == 1
    assert "assert.verdict" in capsys.readouterr().err


def test_freezing_again_adds_nothing(review, scripted_llm, tmp_path):
    file = stepsnb.freeze(review).write()
    scripted_llm.says(calls=[("list_dir", {})]).says(calls=[("verdict", {"verdict": "no"})]).says("Done.")
    again = stepsnb.run(file, vars={"x": "all"}, store=tmp_path / "other")
    frozen = stepsnb.freeze(again)
    assert (frozen.diff(), frozen.text) == ("", file.read_text())


def test_file_that_changed_since_is_left_alone(review, tmp_path):
    file = tmp_path / "review.yml"
    frozen = stepsnb.freeze(review)
    file.write_text(file.read_text() + "# later\n")
    for write in (frozen.write, lambda: stepsnb.freeze(review)):
        with pytest.raises(InputError, match="has changed since the run"):
            write()
    assert file.read_text().endswith("# later\n")


def test_shell_prints_the_change_and_writes_when_asked(review, tmp_path, capsys):
    options = ["--store", str(tmp_path / "store")]
    before, expected = (tmp_path / "review.yml").read_text(), stepsnb.freeze(review).text
    assert main(["freeze", review.run_id, *options]) == 0
    shown = capsys.readouterr().out
    assert "+    assert: { code: 0, files: [notes/a.txt] }" in shown
    assert (tmp_path / "review.yml").read_text() == before
    assert main(["freeze", review.run_id, "--write", *options]) == 0
    assert (tmp_path / "review.yml").read_text() == expected


def test_pipeline_of_a_text_has_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = stepsnb.run("jobs: [{name: j, plan: [{task: t, run: echo hi}]}]")
    frozen = stepsnb.freeze(run)
    assert frozen.text == (
        "jobs: [{name: j, plan: [{task: t, run: echo hi, assert: { code: 0 }}], "
        "assert: { execution: [t], outcome: succeeded }}]"
    )
    with pytest.raises(InputError, match="is in no file"):
        frozen.write()


def test_run_that_failed_is_not_frozen(tmp_path):
    run = stepsnb.run("jobs: [{name: j, plan: [{task: t, run: exit 3}]}]", store=tmp_path / "store")
    with pytest.raises(InputError, match="failed; freeze one that succeeded"):
        stepsnb.freeze(run)


def test_cells_and_visits_keep_what_all_have_in_common(tmp_path):
    text = """
jobs:
- name: j
  plan:
  - across: [{var: n, values: ["1", "2"]}]
    task: cell
    outputs: [o]
    run: 'echo {{ .vars.n }} > o/all.txt; echo > o/{{ .vars.n }}.txt'
"""
    run = stepsnb.run(text, store=tmp_path / "store")
    (line,) = [line for line in added(text, stepsnb.freeze(run).text) if "code" in line]
    assert line == "    assert: { code: 0 }"  # the files lie under their coordinates once they are collected


@pytest.mark.parametrize("path", [p for p in VALID if "# with:" not in p.read_text()], ids=lambda p: p.stem)
def test_frozen_corpus_loads_and_holds(path, tmp_path, monkeypatch):
    folder = shutil.copytree(path.parent, tmp_path / "valid", ignore=shutil.ignore_patterns(".steps"))
    monkeypatch.chdir(folder)
    loaded = stepsnb.load(folder / path.name)
    runs = [loaded.run(job, store=tmp_path / "store") for job in loaded.jobs]
    if any(run.outcome != "succeeded" for run in runs):
        return  # some are there to fail, or to wait for somebody
    text = Path(path.name).read_text("utf-8")
    for run in runs:
        frozen = stepsnb.freeze(run, store=tmp_path / "store")
        assert len(frozen.text) >= len(text)
        load_text(frozen.text, file=path.name, base_dir=folder)


@pytest.mark.parametrize(
    ("text", "path", "after"),
    [
        ("a: {}\n", ("a",), "a: {x: 1}\n"),
        ("a: { b: 2, }\n", ("a",), "a: { b: 2, x: 1 }\n"),
        ("a:\n  b: 2", ("a",), "a:\n  b: 2\n  x: 1\n"),
        (
            "a:\n- b: |\n    one\n    # two\n\n# three\n",
            ("a", 0),
            "a:\n- b: |\n    one\n    # two\n  x: 1\n\n# three\n",
        ),
        ("- {a: b}\n- c: d\n", (1,), "- {a: b}\n- c: d\n  x: 1\n"),
        ("a: b\n", ("no", 3), "a: b\n"),
    ],
)
def test_entries_go_where_they_belong(text, path, after):
    assert insert(text, [Insertion(path, {"x": 1})]) == after


def test_mappings_that_end_together_get_theirs_from_the_inside_out():
    text = "a:\n  b:\n  - c: 1\n    d: 2\n"
    both = [Insertion(("a",), {"x": 1}), Insertion(("a", "b", 0), {"z": 2})]
    for order in (both, both[::-1]):
        assert insert(text, order) == "a:\n  b:\n  - c: 1\n    d: 2\n    z: 2\n  x: 1\n"

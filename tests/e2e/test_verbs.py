"""Every verb has three spellings, and what a run left can be looked at again, or removed."""

import argparse
import importlib
import json

import pytest

import stepsnb
from stepsnb.cli.main import main
from stepsnb.errors import InputError
from stepsnb.notebook.magics import VERBS

EVERYWHERE = """
validate plan run test watch runs show diff cost trajectory transcript sql models questions answer approvals
approve reject resume replay preflight mcp schema store open copy
"""

PIPELINE = """
agents: [{name: a, source: {model: ((model))}, tools: []}]
jobs:
- name: report
  plan:
  - {task: make, run: "printf '<b>bold</b>' > out/page.html; printf '\\\\0\\\\1' > out/raw.bin", outputs: [out]}
  - in_parallel:
    - {task: left, run: echo l}
    - {task: right, run: echo r}
  - across: [{var: n, values: ["1", "2"]}]
    task: cell
    run: 'echo {{ .vars.n }}'
  - {task: flaky, run: 'test -e "$LOG" || { echo > "$LOG"; exit 1; }', env: {LOG: ((log))}, attempts: 2}
  - {agent: a, prompt: Say it., verdicts: [good, bad]}
"""


@pytest.fixture
def report(scripted_llm, tmp_path):
    """A finished run, whose last step decided."""
    scripted_llm.says(calls=[("verdict", {"verdict": "good", "note": "fine"})]).says("Said.")
    variables = {"model": scripted_llm.model, "log": str(tmp_path / "log")}
    run = stepsnb.run(PIPELINE, vars=variables, store=tmp_path / "store")
    assert run.outcome == "succeeded", run.error
    return run


def cli_verbs():
    parser = importlib.import_module("stepsnb.cli.main")._parser()
    return next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction)).choices


@pytest.mark.parametrize("verb", EVERYWHERE.split())
def test_verb_has_three_spellings(verb):
    if verb in ("mcp", "plan", "run", "store"):
        importlib.import_module(f"stepsnb.{verb}")  # a package of that name does not get in its way
    assert callable(getattr(stepsnb, verb))
    assert verb in VERBS
    assert verb in {*cli_verbs(), "approvals", "approve", "reject"}


def test_run_of_the_store_is_shown_as_it_was_handed_back(report, tmp_path):
    again = stepsnb.show(report.run_id, store=tmp_path / "store")

    def summary(run):
        steps = [(step.step_id, step.name, step.kind, step.outcome, step.text, step.verdict) for step in run.steps]
        return (
            run.run_id,
            run.job,
            run.outcome,
            run.error,
            run.text,
            run.verdict,
            run.note,
            run.files,
            run.cost,
            steps,
        )

    assert summary(again) == summary(report)
    assert [step.name for step in again.steps] == ["make", "left", "right", "cell [n=1]", "cell [n=2]", "flaky", "a"]
    assert again.to_json() == report.to_json()
    assert again._repr_html_() == report._repr_html_()


def test_reused_step_is_shown_with_its_result(report, scripted_llm, tmp_path):
    pipeline = "jobs: [{name: j, plan: [{task: t, run: 'echo hi; echo > o/x', outputs: [o]}]}]"
    stepsnb.run(pipeline, store=tmp_path / "store")
    second = stepsnb.run(pipeline, store=tmp_path / "store")
    (step,) = stepsnb.show(second.run_id, store=tmp_path / "store").steps
    assert (step.outcome, step.text) == ("reused", second.steps[0].text)


def test_typed_output_is_json_when_it_is_shown_again(scripted_llm, tmp_path):
    scripted_llm.says(calls=[("submit_output", {"count": 3})]).says("Done.")
    shape = "{type: object, properties: {count: {type: integer}}, required: [count]}"
    text = f"""
agents: [{{name: a, source: {{model: {scripted_llm.model}}}, tools: []}}]
jobs: [{{name: j, plan: [{{agent: a, prompt: Count., output: {shape}}}]}}]
"""
    run = stepsnb.run(text, store=tmp_path / "store")
    assert stepsnb.show(run.run_id, store=tmp_path / "store").data == run.data == {"count": 3}


def test_show_prints_what_a_cell_shows(report, tmp_path, capsys):
    assert main(["show", report.run_id, "--store", str(tmp_path / "store")]) == 0
    shown = capsys.readouterr().out
    assert all(words in shown for words in ("report succeeded", "make", "good", "Said."))
    assert main(["show", report.run_id, "--store", str(tmp_path / "store"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(report.to_json()))


def test_unknown_run_is_named_with_the_newest(report, tmp_path):
    with pytest.raises(InputError, match=f"unknown run `NOPE`.*{report.run_id}"):
        stepsnb.show("NOPE", store=tmp_path / "store")


def test_files_of_an_artifact_are_looked_at_as_text(report, tmp_path):
    found = stepsnb.open(f"{report.run_id}/out", store=tmp_path / "store")
    assert found.df().fillna("-").values.tolist() == [["page.html", 11, "<b>bold</b>"], ["raw.bin", 2, "-"]]
    assert "&lt;b&gt;bold&lt;/b&gt;" in found._repr_html_()
    assert "<b>bold" not in found._repr_html_()
    assert stepsnb.open(f"{report.run_id}/out/page.html", store=tmp_path / "store").text == "<b>bold</b>"


@pytest.mark.parametrize(
    ("artifact", "words"),
    [
        ("RUN/outt", r"unknown artifact `outt` \(did you mean `out`"),
        ("RUN/out/page.htm", r"unknown file `page.htm` \(did you mean `page.html`"),
        ("RUN", "names no artifact; write RUN/ARTIFACT"),
        ("NOPE/out", "unknown run `NOPE`"),
    ],
)
def test_what_cannot_be_opened_says_what_can(report, tmp_path, artifact, words):
    with pytest.raises(InputError, match=words):
        stepsnb.open(artifact.replace("RUN", report.run_id), store=tmp_path / "store")


def test_long_file_is_cut_where_a_character_ends(tmp_path):
    text = "jobs: [{name: j, plan: [{task: t, run: \"yes 'é€' | head -c 200000 > o/x\", outputs: [o]}]}]"
    run = stepsnb.run(text, store=tmp_path / "store")
    (file,) = stepsnb.open(f"{run.run_id}/o", store=tmp_path / "store").files
    assert (file.bytes, file.is_cut, file.text.rstrip("\n")[:2]) == (200_000, True, "é€")
    assert set(file.text) == set("é€\n")


def test_sql_is_a_verb_of_the_shell(report, tmp_path, capsys):
    query = "select job, outcome from runs"
    assert main(["sql", query, "--store", str(tmp_path / "store")]) == 0
    assert capsys.readouterr().out.split() == ["job", "outcome", "report", "succeeded"]
    assert main(["sql", query, "--store", str(tmp_path / "store"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"job": "report", "outcome": "succeeded"}]
    assert main(["sql", "drop table events", "--store", str(tmp_path / "store")]) == 2


def test_pipelines_are_checked_from_python(tmp_path):
    (tmp_path / "bad.yml").write_text("jobs: [{name: j, plan: [{tusk: t}]}]")
    (tmp_path / "good.yml").write_text("jobs: [{name: j, plan: [{task: t, run: 'true'}]}]")
    found = stepsnb.validate(tmp_path / "bad.yml", tmp_path / "good.yml")
    assert list(found["valid"]) == [False, True]
    assert list(found["jobs"]) == [[], ["j"]]
    assert "did you mean" in found["problems"][0][0]


def test_pipelines_are_tested_from_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = """
jobs:
- {name: good, plan: [{task: t, run: echo hi, assert: {stdout: hi}}]}
- {name: bad, plan: [{task: t, run: echo hi, assert: {stdout: ho}}]}
assert: {execution: [bad, good]}
"""
    found = stepsnb.test(text)
    assert found[["job", "outcome"]].fillna("-").values.tolist() == [
        ["good", "succeeded"],
        ["bad", "failed"],
        ["-", "failed"],
    ]
    assert "assert.stdout" in found["error"][1]
    assert not (tmp_path / ".steps").exists()


def test_store_says_how_large_it_is(report, tmp_path, capsys):
    parts = stepsnb.store(store=tmp_path / "store").set_index("part")
    assert (parts.loc["artifacts", "files"], parts.loc["artifacts", "bytes"]) == (2, 13)
    assert parts.loc["spools", "bytes"] > 0
    assert main(["store", "--store", str(tmp_path / "store")]) == 0
    assert "artifacts" in capsys.readouterr().out


def test_size_of_no_store_is_nothing_and_makes_none(tmp_path):
    assert stepsnb.store(store=tmp_path / "none")["bytes"].sum() == 0
    assert not (tmp_path / "none").exists()


def test_cleaning_keeps_the_latest_runs_of_each_job(tmp_path):
    text = "jobs: [{name: a, plan: [{task: t, run: 'true'}]}, {name: b, plan: [{task: t, run: 'true'}]}]"
    made = [stepsnb.run(text, job, store=tmp_path / "store").run_id for job in ("a", "a", "b", "a")]
    gone = stepsnb.store("clean", keep=1, store=tmp_path / "store")
    assert sorted(gone["run_id"]) == sorted(made[:2])
    assert list(stepsnb.runs(store=tmp_path / "store")["run_id"]) == [made[3], made[2]]


def test_removed_run_is_gone_with_its_rows_for_good(report, tmp_path, capsys):
    assert main(["store", "clean", report.run_id, "--store", str(tmp_path / "store")]) == 0
    assert capsys.readouterr().out.split() == ["removed", "1", "runs", report.run_id]
    assert len(stepsnb.steps(store=tmp_path / "store")) == 0
    stepsnb.Store(tmp_path / "store").rebuild()
    assert len(stepsnb.runs(store=tmp_path / "store")) == 0


def test_run_that_a_fork_needs_stays(tmp_path):
    text = "jobs: [{name: j, plan: [{task: t, run: 'true'}, {task: u, run: 'true'}]}]"
    (tmp_path / "p.yml").write_text(text)
    first = stepsnb.run(tmp_path / "p.yml", store=tmp_path / "store")
    fork = stepsnb.replay(first.run_id, from_step="u", store=tmp_path / "store")
    with pytest.raises(InputError, match=f"run {fork.run_id} was forked from run {first.run_id} and needs it"):
        stepsnb.store("clean", runs=[first.run_id], store=tmp_path / "store")
    assert len(stepsnb.runs(store=tmp_path / "store")) == 2
    stepsnb.store("clean", runs=[first.run_id, fork.run_id], store=tmp_path / "store")
    assert len(stepsnb.runs(store=tmp_path / "store")) == 0


def test_run_under_way_is_not_removed(tmp_path):
    text = "jobs: [{name: j, plan: [{task: t, run: sleep 30}]}]"
    handle = stepsnb.load(text).start(store=tmp_path / "store")
    try:
        while not len(stepsnb.runs(store=tmp_path / "store")):
            handle.wait(0.05)
        with pytest.raises(InputError, match="is under way"):
            stepsnb.store("clean", runs=[handle.run_id], store=tmp_path / "store")
    finally:
        handle.cancel()
        handle.result()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("cleen",), "unknown action `cleen`"),
        (("clean", {"keep": 0}), "at least 1"),
        (("clean", {"runs": ["NOPE"]}), "unknown run `NOPE`"),
        (("size", {"keep": 3}), "for the action `clean`"),
    ],
)
def test_cleaning_that_makes_no_sense_removes_nothing(report, tmp_path, args, words):
    options = args[1] if len(args) > 1 else {}
    with pytest.raises(InputError, match=words):
        stepsnb.store(args[0], store=tmp_path / "store", **options)
    assert len(stepsnb.runs(store=tmp_path / "store")) == 1

"""`stepsnb plan`: the table, and the same as JSON."""

import json

import pytest

from stepsnb.cli.main import main

JOB = """\
jobs:
- name: build
  plan:
  - {task: make, run: echo a > out/a, outputs: [out]}
  - do:
    - {task: check, run: test -s out/a, inputs: [out]}
- {name: other, plan: [{task: look, run: ls}]}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yml").write_text(JOB)
    return "job.yml"


def told(capsys, *arguments):
    assert main(["plan", *arguments]) == 0
    return capsys.readouterr().out


def test_the_table_has_a_row_for_each_step(file, capsys):
    assert told(capsys, file, "build") == (
        "STEP     KIND  ACTION  REASON\n"
        "make     task  run     never ran\n"
        "do       do    run     none of its steps is reused\n"
        "· check  task  run     without outputs there is nothing to reuse\n"
        "3 run, 0 reuse, 0 skip\n"
    )


def test_json_has_the_counts_and_the_rows(file, capsys):
    assert main(["run", file, "--job", "build", "--json"]) == 0
    capsys.readouterr()

    value = json.loads(told(capsys, file, "--job", "build", "--json"))

    assert {key: value[key] for key in ("job", "run", "reuse", "skip")} == {
        "job": "build",
        "run": 2,
        "reuse": 1,
        "skip": 0,
    }
    assert [(row["step"], row["action"], row["path"], row["parent"]) for row in value["steps"]] == [
        ("make", "reuse", "0", None),
        ("do", "run", "1", None),
        ("check", "run", "1.0", "1"),
    ]
    assert value["steps"][0].keys() == {"step", "kind", "action", "reason", "path", "parent", "hash"}


def test_a_job_must_be_named_when_there_are_several(file, capsys):
    assert main(["plan", file]) == 2
    assert "has 2 jobs, so name one: build, other" in capsys.readouterr().err


def test_a_pipeline_that_does_not_load_is_refused_with_its_place(file, capsys, tmp_path):
    (tmp_path / "bad.yml").write_text("jobs: [{name: a, plan: [{tusk: t}]}]\n")

    assert main(["plan", "bad.yml"]) == 2
    assert capsys.readouterr().err.startswith("bad.yml:1:")

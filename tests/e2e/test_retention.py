"""A store keeps as many runs of a job as its pipeline says."""

import json
import os

import pytest

import stepsnb
from stepsnb.errors import InputError

PIPELINE = """
defaults: {run_history: 2}
jobs:
- name: build
  plan:
  - {task: make, run: "date +%N > out/is; ((what))", outputs: [out], volatile: true}
  - {task: read, inputs: [out], run: cat out/is}
- name: ship
  run_history: 1
  plan: [{task: send, run: echo sent}]
"""


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return stepsnb.load(PIPELINE, vars={"what": "true"})


def kept(job="build"):
    found = stepsnb.runs()
    return list(found.run_id[found.job == job])[::-1]


def test_each_job_keeps_its_own_number_of_runs(pipeline):
    runs = [pipeline.run("build").run_id for _ in range(4)]
    sent = [pipeline.run("ship").run_id for _ in range(3)]

    assert kept() == runs[-2:]
    assert kept("ship") == sent[-1:]


def test_artifacts_go_with_their_runs(pipeline, tmp_path):
    for _ in range(4):
        pipeline.run("build")
    for folder in (tmp_path / ".steps/artifacts").iterdir():
        os.utime(folder, (1.0, 1.0))

    assert len(list((tmp_path / ".steps/artifacts").iterdir())) == 4
    kept()
    assert len(list((tmp_path / ".steps/artifacts").iterdir())) == 2
    assert stepsnb.copy(kept()[0], "out", tmp_path / "copied")


def test_finishing_a_run_does_not_open_the_database(pipeline, tmp_path):
    for _ in range(4):
        pipeline.run("build")

    assert not (tmp_path / ".steps/store.duckdb").exists()


def test_removed_run_cannot_be_replayed(pipeline):
    runs = [pipeline.run("build").run_id for _ in range(3)]
    kept()

    with pytest.raises(InputError, match=runs[0]):
        stepsnb.replay(runs[0], from_step="read", pipeline=pipeline)


def test_run_that_others_were_replayed_from_stays_as_long_as_they_do(pipeline):
    first = pipeline.run("build").run_id
    replayed = [stepsnb.replay(first, from_step="read", pipeline=pipeline).run_id for _ in range(3)]

    assert kept() == [first, *replayed[-2:]]
    assert stepsnb.replay(replayed[-1], from_step="read", pipeline=pipeline).outcome == "succeeded"
    pipeline.run("build")
    last = pipeline.run("build").run_id
    assert first not in kept()
    assert kept()[-1] == last


def test_resumed_run_counts_as_of_its_new_end(pipeline):
    failed = stepsnb.load(PIPELINE, vars={"what": "exit 1"}).run("build").run_id
    last = pipeline.run("build").run_id
    assert stepsnb.resume(failed, pipeline=pipeline).outcome == "succeeded"
    pipeline.run("build")

    assert failed in kept()
    assert last not in kept()


RESOURCES = """
defaults: {run_history: 1}
resource_types:
- {name: own, check: cat /((folder))/versions.json, in: "echo {{ .version.n }} > n"}
resources:
- {name: code, type: own, version_history: 2}
jobs:
- name: build
  plan: [{get: code}, {task: show, inputs: [code], run: cat code/n}]
- name: every
  plan: [{get: code, version: every}, {task: show, inputs: [code], run: cat code/n}]
"""


def versions(tmp_path):
    (file,) = tmp_path.glob(".steps/versions/resource-*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [row["version"]["n"] for row in rows if "version" in row]


def list_versions(tmp_path, count):
    text = json.dumps([{"n": str(number)} for number in range(1, count + 1)])
    (tmp_path / "versions.json").write_text(text)


def test_resource_keeps_its_newest_versions_and_what_kept_runs_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pipeline = stepsnb.load(RESOURCES, vars={"folder": str(tmp_path)[1:]})
    list_versions(tmp_path, 5)
    pipeline.run("build")
    assert versions(tmp_path) == ["4", "5"]

    list_versions(tmp_path, 9)
    assert pipeline.run("build").text.strip() == "9"
    stepsnb.runs()
    pipeline.run("build")
    assert versions(tmp_path) == ["8", "9"]


def test_every_comes_to_each_version_however_few_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pipeline = stepsnb.load(RESOURCES, vars={"folder": str(tmp_path)[1:]})
    list_versions(tmp_path, 1)
    seen = [pipeline.run("every").text.strip()]
    list_versions(tmp_path, 6)
    seen += [pipeline.run("every").text.strip() for _ in range(5)]

    assert seen == ["1", "2", "3", "4", "5", "6"]
    assert versions(tmp_path)[-1] == "6"

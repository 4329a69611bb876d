"""Plans of jobs that ran before: what would run, be reused or be skipped, by what the store has."""

import pandas as pd
import pytest

import stepsnb
from stepsnb.errors import InputError, WorkspaceError

JOB = """
resources:
- {name: src, type: path, source: {path: src}}
jobs:
- name: j
  plan:
  - get: src
  - {task: build, run: cp -r src/. out/, inputs: [src], outputs: [out]}
  - {task: pack, run: cat out/* > box/all, inputs: [out], outputs: [box]}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a").write_text("one")
    return tmp_path


def actions(frame):
    return list(zip(frame["step"], frame["action"], strict=True))


def reasons(frame):
    return dict(zip(frame["step"], frame["reason"], strict=True))


def test_a_plan_is_a_frame_of_texts(here):
    frame = stepsnb.plan(JOB)

    assert list(frame.columns) == ["step", "kind", "action", "reason", "path", "parent", "hash"]
    assert set(frame.dtypes) == {pd.Series([""]).dtype}
    assert list(frame["path"]) == ["0", "1", "2"]
    assert frame["parent"].isna().all()


def test_planning_runs_and_writes_nothing(here):
    stepsnb.plan(JOB)

    assert sorted(path.name for path in here.iterdir()) == ["src"]


def test_what_a_plan_says_is_what_a_run_does(here):
    loaded = stepsnb.load(JOB)
    assert actions(loaded.plan()) == [("src", "run"), ("build", "run"), ("pack", "run")]
    first = loaded.run()

    plan = loaded.plan()
    again = loaded.run()

    assert actions(plan) == [("src", "run"), ("build", "reuse"), ("pack", "reuse")]
    assert reasons(plan)["build"] == f"unchanged since run {first.run_id}"
    assert [(step.name, str(step.outcome)) for step in again.steps] == [
        ("src", "succeeded"),
        ("build", "reused"),
        ("pack", "reused"),
    ]


def test_new_bytes_of_a_path_are_named(here):
    stepsnb.load(JOB).run()
    (here / "src" / "a").write_text("two")

    assert reasons(stepsnb.plan(JOB)) == {
        "src": "gets always look for a new version; it has new bytes",
        "build": "input `src` has new bytes",
        "pack": "input `out` is made anew by `build`",
    }


def test_an_edited_step_is_named_and_so_is_why_the_next_one_runs(here):
    first = stepsnb.load(JOB).run()

    plan = stepsnb.plan(JOB.replace("cp -r", "cp -pr"))

    assert reasons(plan) == {
        "src": f"gets always look for a new version; its bytes are those of run {first.run_id}",
        "build": "run changed",
        "pack": "`build` before it changed",
    }


def test_a_changed_message_is_named(here):
    (here / "scripted").mkdir()
    (here / "scripted" / "m.yml").write_text("version: 1\nturns: [{text: done}, {text: done}]\n")
    text = """
agents: [{name: a, source: {model: scripted/m}, tools: [write_file]}]
jobs: [{name: j, plan: [{agent: a, messages: [Write.], outputs: [out]}]}]
"""
    stepsnb.load(text).run()

    assert reasons(stepsnb.plan(text.replace("Write.", "Write well.")))["a"] == "messages[0] changed"


def test_a_step_that_failed_runs_and_says_so(here):
    text = "jobs: [{name: j, plan: [{task: t, run: exit 3, outputs: [out]}]}]\n"
    failed = stepsnb.load(text).run()

    assert reasons(stepsnb.plan(text))["t"] == f"it failed in run {failed.run_id}"


def test_files_are_compared_by_their_bytes(here):
    text = "jobs: [{name: j, plan: [{task: t, run: cp -r files/. out/, inputs: [files], outputs: [out]}]}]\n"
    loaded = stepsnb.load(text)
    loaded.run(files="src")

    assert actions(loaded.plan(files="src")) == [("t", "reuse")]
    (here / "src" / "a").write_text("two")
    assert reasons(loaded.plan(files=["src"]))["t"] == "input `files` has new bytes"
    assert reasons(loaded.plan())["t"] == "input `files` is not there yet"


def test_variables_count_by_their_values(here):
    text = "jobs: [{name: j, plan: [{task: t, run: echo ((word)) > out/w, outputs: [out]}]}]\n"
    stepsnb.load(text, vars={"word": "a"}).run()

    assert actions(stepsnb.plan(text, vars={"word": "a"})) == [("t", "reuse")]
    assert reasons(stepsnb.plan(text, vars={"word": "b"}))["t"] == "run changed"
    loaded = stepsnb.load(text, vars={"word": "a"})
    assert reasons(stepsnb.plan(loaded, vars={"word": "b"}))["t"] == "run changed"


def test_a_value_that_a_run_loads_decides_what_it_reuses(here):
    text = """
resources: [{name: src, type: path, source: {path: src}}]
jobs:
- name: j
  plan:
  - get: src
  - {load_var: word, file: src/a, inputs: [src]}
  - {task: t, run: echo ((word)) > out/w, outputs: [out]}
"""
    loaded = stepsnb.load(text)
    runs = [loaded.run(), loaded.run()]
    (here / "src" / "a").write_text("two")
    runs.append(loaded.run())

    assert [str(run.steps[-1].outcome) for run in runs] == ["succeeded", "reused", "succeeded"]
    assert runs[-1].files["out/w"].read_text() == "two\n"
    assert reasons(loaded.plan())["t"] == "uses `((word))`, which is known only during the run"


def test_cells_of_a_matrix_are_reused_one_by_one(here):
    text = """
jobs:
- name: j
  plan:
  - across: [{var: a, values: [x, y]}]
    task: t
    run: echo {{ .vars.a }} > out/f
    outputs: [out]
  - {task: end, run: cp -r out/. all/, inputs: [out], outputs: [all]}
"""
    stepsnb.load(text).run()

    assert set(stepsnb.plan(text)["action"]) == {"reuse"}
    assert actions(stepsnb.plan(text.replace("[x, y]", "[x, y, z]"))) == [
        ("t", "run"),
        ("t [a=x]", "reuse"),
        ("t [a=y]", "reuse"),
        ("t [a=z]", "run"),
        ("end", "run"),
    ]


def test_a_run_that_kept_nothing_is_no_history(here):
    stepsnb.load(JOB).run(memory=True)

    assert reasons(stepsnb.plan(JOB))["build"] == "never ran"


def test_another_store_has_another_history(here):
    stepsnb.load(JOB).run(store="other")

    assert reasons(stepsnb.plan(JOB))["build"] == "never ran"
    assert actions(stepsnb.plan(JOB, store="other"))[1] == ("build", "reuse")


def test_a_result_whose_files_are_gone_is_none(here):
    stepsnb.load(JOB).run()
    (here / ".steps" / "artifacts").rename(here / "artifacts")

    assert reasons(stepsnb.plan(JOB))["build"] == "its result is no longer kept"


def test_a_path_that_is_not_there_is_said_before_anything_runs(here):
    (here / "src" / "a").unlink()
    (here / "src").rmdir()

    with pytest.raises(WorkspaceError, match="resource `src`: no file or folder `src`"):
        stepsnb.plan(JOB)


def test_an_unknown_job_is_refused(here):
    with pytest.raises(InputError, match="unknown job `k`"):
        stepsnb.plan(JOB, "k")


def test_the_package_of_the_planner_is_the_verb_too(here):
    from stepsnb.plan import build_plan

    assert stepsnb.plan.build_plan is build_plan
    assert len(stepsnb.plan(JOB)) == 3


CHAIN = """
jobs:
- name: j
  plan:
  - {task: a, run: echo a > a/f, outputs: [a]}
  - do:
    - {task: b, run: cat a/f > b/f, inputs: [a], outputs: [b]}
    - {task: c, run: cat b/f > c/f, inputs: [b], outputs: [c]}
  - in_parallel:
      steps:
      - {task: d, run: cat c/f > d/f, inputs: [c], outputs: [d]}
      - {task: e, run: cat a/f > e/f, inputs: [a], outputs: [e]}
  - {task: f, run: cat d/f e/f > f/f, inputs: [d, e], outputs: [f]}
"""


@pytest.mark.parametrize("edited", ["", "a", "b", "c", "d", "e", "f"])
def test_what_a_plan_reuses_a_run_reuses(here, edited):
    stepsnb.load(CHAIN).run()
    text = CHAIN.replace(f"task: {edited}, run: ", f"task: {edited}, run: true && ") if edited else CHAIN

    plan = stepsnb.plan(text)
    run = stepsnb.load(text).run()

    planned = {row.step: row.action for row in plan.itertuples() if row.kind == "task"}
    done = {step.name: {"reused": "reuse", "succeeded": "run"}[str(step.outcome)] for step in run.steps}
    assert {name: done[name] for name in planned} == planned

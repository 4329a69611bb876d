"""Starting, stopping and walking runs through the public API."""

import asyncio
import os
import time

import pytest

import stepsnb
from stepsnb.errors import InputError

TASKS = """
jobs:
- name: build
  plan:
  - task: make
    outputs: [out]
    run: echo one > out/a.txt
  - task: show
    inputs: [out]
    run: cat out/a.txt
"""


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_artifact_of_one_step_is_the_input_of_the_next(store):
    run = stepsnb.load(TASKS).run(store=store)
    assert (run.outcome, run.text) == ("succeeded", "one\n")


def test_failing_step_stops_the_plan(store):
    run = stepsnb.load(TASKS.replace("echo one > out/a.txt", "echo broken >&2; exit 3")).run(store=store)
    assert (run.outcome, [step.name for step in run.steps]) == ("failed", ["make"])
    assert run.error == "step `make` failed: the command ended with exit code 3: broken"


def test_run_works_inside_a_running_loop(store):
    async def cell():
        return stepsnb.load(TASKS).run(store=store)

    assert asyncio.run(cell()).outcome == "succeeded"


async def test_started_run_is_awaited_without_blocking_the_loop(store):
    handle = stepsnb.load(TASKS.replace("cat out/a.txt", "sleep 0.3")).start(store=store)
    ticks = 0
    while not handle.is_settled:
        await asyncio.sleep(0.01)
        ticks += 1
    assert (await handle).outcome == "succeeded"
    assert ticks > 5


def test_cancelled_run_is_aborted_and_leaves_no_process(store, tmp_path):
    pid_file = tmp_path / "pid"
    text = TASKS.replace("cat out/a.txt", f"echo $$ > {pid_file}; trap '' TERM; sleep 60 & wait")
    handle = stepsnb.load(text).start(store=store)
    while not (pid_file.exists() and pid_file.read_text().strip()):
        time.sleep(0.02)
    handle.cancel()
    assert handle.wait(5)
    run = handle.result()
    assert (run.outcome, run.error) == ("aborted", "step `show` aborted: stopped")
    assert not is_running(int(pid_file.read_text()))
    assert stepsnb.runs(store=store).loc[0, "outcome"] == "aborted"


async def test_waiter_that_is_cancelled_stops_the_run(store):
    handle = stepsnb.load(TASKS.replace("cat out/a.txt", "sleep 60")).start(store=store)
    waiter = asyncio.create_task(asyncio.wait_for(handle, 0.3))
    with pytest.raises(TimeoutError):
        await waiter
    assert handle.is_settled


def test_cell_by_cell_carries_artifacts_and_ends_with_the_plan(store):
    opened = stepsnb.load(TASKS).open(store=store)
    first = opened.next().result()
    assert (first.outcome, opened.remaining) == (None, ["show"])
    last = opened.next().result()
    assert (last.outcome, last.text, last.run_id) == ("succeeded", "one\n", first.run_id)
    with pytest.raises(InputError, match="has ended"):
        opened.next().result()


def test_steps_cell_uses_the_artifacts_of_the_open_run(store):
    opened = stepsnb.load(TASKS).open(store=store)
    opened.next().result()
    run = opened.run_steps("- task: count\n  inputs: [out]\n  run: wc -l < out/a.txt").result()
    assert run.text.strip() == "1"
    assert opened.finish().result().outcome == "succeeded"


def test_steps_cell_after_the_end_goes_on_from_the_finished_runs_artifacts(store):
    pipeline = stepsnb.load(TASKS)
    opened = pipeline.open(store=store)
    opened.next().result()
    ended = opened.next().result()
    again = pipeline.open(after=opened, store=store)
    run = again.run_steps("- task: count\n  inputs: [out]\n  run: wc -l < out/a.txt").result()
    assert run.text.strip() == "1"
    assert run.events[0].forked_from == ended.run_id


def test_named_step_runs_what_leads_to_it(store):
    opened = stepsnb.load(TASKS).open(store=store)
    run = opened.step("show").result()
    assert [step.name for step in run.steps] == ["make", "show"]
    assert run.outcome == "succeeded"


def test_abandoned_open_run_ends_as_aborted_and_unjudged(store):
    opened = stepsnb.load(TASKS).open(store=store)
    opened.next().result()
    run = opened.abandon().result()
    assert (run.outcome, run.error) == ("aborted", "left before its last step")
    assert stepsnb.runs(store=store)["outcome"].tolist() == ["aborted"]
    assert opened.abandon().result().outcome == "aborted"


def test_open_run_that_never_began_is_abandoned_without_a_trace(store):
    opened = stepsnb.load(TASKS).open(store=store)
    assert opened.abandon().result().outcome is None
    assert len(stepsnb.runs(store=store)) == 0


def test_unknown_step_is_refused_and_the_run_goes_on(store):
    opened = stepsnb.load(TASKS).open(store=store)
    with pytest.raises(InputError) as caught:
        opened.step("shwo").result()
    assert str(caught.value) == "job `build`: unknown step `shwo` (did you mean `show`?); available: make, show"
    assert opened.next().result().outcome is None


def test_files_handed_in_are_the_artifact_files(store, tmp_path):
    (tmp_path / "in.txt").write_text("mine")
    text = "jobs:\n- name: j\n  plan:\n  - task: t\n    inputs: [files]\n    run: cat files/in.txt\n"
    pipeline = stepsnb.load(text)
    assert pipeline.run(store=store, files=[tmp_path / "in.txt"]).text == "mine"
    missing = pipeline.run(store=store)
    assert missing.outcome == "errored"
    assert "hand files in with `--files` (in Python `files=`)" in missing.error


def test_path_resource_brings_a_folder_in(store, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.csv").write_text("1,2")
    text = f"""
resources:
- name: data
  type: path
  source: {{path: {tmp_path / "data"}}}
jobs:
- name: j
  plan:
  - get: data
  - task: t
    inputs: [data]
    run: cat data/t.csv
"""
    assert stepsnb.load(text).run(store=store).text == "1,2"


def test_copy_hands_outputs_back_and_never_overwrites_a_changed_file(store, tmp_path):
    run = stepsnb.load(TASKS).run(store=store)
    written = stepsnb.copy(run.run_id, "out", tmp_path / "mine", store=store)
    assert [path.read_text() for path in written] == ["one\n"]
    (tmp_path / "mine" / "a.txt").write_text("edited")
    with pytest.raises(stepsnb.StepsError):
        stepsnb.copy(run.run_id, "out", tmp_path / "mine", store=store)
    assert (tmp_path / "mine" / "a.txt").read_text() == "edited"
    with pytest.raises(InputError, match="unknown artifact `nope`; available: out"):
        stepsnb.copy(run.run_id, "nope", tmp_path / "mine", store=store)


def test_variables_fill_a_pipeline_at_load_or_at_run(store):
    text = "jobs:\n- name: j\n  plan:\n  - task: t\n    run: echo ((word))\n"
    assert stepsnb.load(text, vars={"word": "a"}).run(store=store).text == "a\n"
    assert stepsnb.load(text, vars={"word": "a"}).run(store=store, vars={"word": "b"}).text == "b\n"


def test_unknown_option_and_job_are_refused_before_anything_runs(store):
    pipeline = stepsnb.load(TASKS)
    with pytest.raises(InputError, match="unknown option `anwers`"):
        pipeline.run(anwers={})
    with pytest.raises(InputError, match="biuld"):
        pipeline.run("biuld", store=store)


def test_job_timeout_is_checked_between_steps_and_keeps_what_ran(store):
    text = TASKS.replace("- name: build", "- name: build\n  timeout: 1s").replace("echo one", "sleep 1.2; echo one")
    run = stepsnb.load(text).run(store=store)
    assert (run.outcome, [step.name for step in run.steps]) == ("failed", ["make"])
    assert run.error == "job `build` timed out after 1 s (`timeout:`)"


def test_to_json_has_the_keys_scripts_rely_on(store):
    assert stepsnb.load(TASKS).run(store=store).to_json().keys() == {
        "run_id",
        "job",
        "outcome",
        "steps",
        "tokens",
        "cost_usd",
        "error",
    }


def test_secret_of_a_failed_task_is_in_no_message_or_result(store):
    text = """
jobs:
- name: j
  plan:
  - task: deny
    env: {TOKEN: sk-very-secret}
    run: echo "denied for $TOKEN"; echo "denied for $TOKEN" >&2; exit 1
"""
    run = stepsnb.load(text).run(store=store)
    assert run.error == "step `deny` failed: the command ended with exit code 1: denied for [redacted]"
    assert run.text == "denied for [redacted]\n"
    assert "sk-very-secret" not in str(run.to_json()) + run._repr_html_()


def test_value_under_env_that_is_an_artifacts_name_takes_no_name_away(store, tmp_path):
    text = """
jobs:
- name: j
  plan:
  - task: summaries
    outputs: [summaries]
    env: {OUT: summaries, DIR: artifacts}
    run: echo hi > $OUT/a.txt
"""
    run = stepsnb.load(text).run(store=store)
    assert run.files["summaries/a.txt"].read_text() == "hi\n"
    assert stepsnb.copy(run.run_id, "summaries", tmp_path / "mine", store=store)


def test_folder_that_is_gone_is_said_in_a_sentence(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    for call in (lambda: stepsnb.load(TASKS), stepsnb.runs):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value) == "the current folder is gone; change to one that exists (in a notebook `%cd`)"


def test_task_without_its_file_is_not_told_about_a_model(store):
    text = TASKS.replace("run: echo one > out/a.txt", "run: 'true'\n    assert: {files: [out/a.txt]}")
    assert stepsnb.load(text).run(store=store).error == "step `make` failed: assert.files: missing or empty: out/a.txt"

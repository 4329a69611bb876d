"""Runs that end early and go on: nothing that completed runs again, whatever the plan is made of."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

import stepsnb
from stepsnb.errors import InputError

COMMAND = [sys.executable, "-m", "stepsnb.cli.main"]


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A file outside the workspace to which tasks add their names."""
    path = tmp_path / "log.txt"
    path.touch()
    monkeypatch.setenv("STEPS_LOG", str(path))
    monkeypatch.setenv("FLAGS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.fixture
def write(tmp_path):
    def write(text, name="job.yml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def task(name, more="true", **keys):
    """A task that adds its name to the log and then does `more`; as one line of YAML."""
    return json.dumps({"task": name, "run": f'echo {name} >> "$STEPS_LOG"; {more}', **keys})


def plan(*steps, **job):
    """A pipeline of one job with these steps, each a line of YAML."""
    keys = "".join(f"  {name}: {value}\n" for name, value in job.items())
    return "jobs:\n- name: job\n" + keys + "  plan:\n" + "".join(f"  - {step}\n" for step in steps)


def flag(tmp_path, name="flag"):
    (tmp_path / name).touch()


NEEDS_FLAG = 'test -e "$FLAGS/flag"'


def counted(log):
    return Counter(log.read_text().split())


def command(*args):
    return subprocess.run([*COMMAND, *args], capture_output=True, text=True, timeout=120)


def killed_while(path, store, log, name, times=1):
    """Run in a process of its own, kill that with -9 in the task `name` for the given time; return the run's id."""
    process = subprocess.Popen(
        [*COMMAND, "run", str(path), "--store", str(store)], stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        give_up_at = time.monotonic() + 60
        while counted(log)[name] < times:
            assert time.monotonic() < give_up_at, "the task never began"
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return stepsnb.runs(store=store)["run_id"][0]


TWENTY = plan(
    *(
        task(f"t{n:02}", f"echo {n} > out/n", outputs=["out"], volatile=True, on_success=json.loads(task(f"h{n:02}")))
        for n in range(9)
    ),
    task("t09", 'test -e "$FLAGS/flag" || sleep 60', ensure=json.loads(task("h09"))),
    *(task(f"t{n:02}", inputs=["out"]) for n in range(10, 20)),
    ensure=task("end"),
)


def test_killed_run_goes_on_where_it_was(tmp_path, log, write):
    path, store = write(TWENTY), tmp_path / "store"
    run_id = killed_while(path, store, log, "t09")
    assert stepsnb.runs(store=store)["state"].tolist() == ["interrupted"]
    flag(tmp_path)

    result = command("resume", run_id, "--store", str(store), "--json")

    assert result.returncode == 0, result.stderr
    value = json.loads(result.stdout)
    assert (value["run_id"], value["outcome"], value["error"]) == (run_id, "succeeded", None)
    tasks = [step["name"] for step in value["steps"] if step["name"].startswith("t")]
    assert tasks == [f"t{n:02}" for n in range(20)]
    names = {f"t{n:02}" for n in range(20)} | {f"h{n:02}" for n in range(10)} | {"end"}
    assert counted(log) == {name: 2 if name == "t09" else 1 for name in names}
    assert stepsnb.runs(store=store)[["run_id", "state", "outcome"]].values.tolist() == [
        [run_id, "finished", "succeeded"]
    ]


def test_resumed_run_prints_what_a_run_prints(tmp_path, log, write):
    path, store = write(TWENTY), tmp_path / "store"
    run_id = killed_while(path, store, log, "t09")
    flag(tmp_path)

    resumed = json.loads(command("resume", run_id, "--store", str(store), "--json").stdout)
    straight = json.loads(command("run", str(path), "--store", str(tmp_path / "other"), "--json").stdout)

    assert {**resumed, "run_id": ""} == {**straight, "run_id": ""}


def test_run_that_succeeded_has_nothing_left(tmp_path, log, write):
    store = tmp_path / "store"
    run_id = stepsnb.load(write(plan(task("a")))).run(store=store).run_id

    result = command("resume", run_id, "--store", str(store))

    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == (
        f"run {run_id} has succeeded, nothing is left to do; `replay` runs it again from a step"
    )
    assert counted(log) == {"a": 1}


def test_unknown_run_is_said_to_be_unknown(tmp_path, log):
    with pytest.raises(InputError, match="NOWHERE"):
        stepsnb.resume("NOWHERE", store=tmp_path / "store")


def test_run_that_is_under_way_is_left_alone(tmp_path, log, write):
    store = tmp_path / "store"
    handle = stepsnb.load(write(plan(task("a", "sleep 60")))).start(store=store)
    while "a" not in counted(log):
        time.sleep(0.02)
    try:
        with pytest.raises(InputError, match="is still under way"):
            stepsnb.resume(handle.run_id, store=store)
    finally:
        handle.cancel()
        handle.wait()


def test_stopped_run_goes_on_and_its_hooks_fire_for_the_new_end(tmp_path, log, write):
    store = tmp_path / "store"
    text = plan(
        task("a"),
        task("b", f"{NEEDS_FLAG} || sleep 60", on_abort=json.loads(task("stopped")), ensure=json.loads(task("after"))),
        ensure=task("end"),
    )
    handle = stepsnb.load(write(text)).start(store=store)
    while "b" not in counted(log):
        time.sleep(0.02)
    handle.cancel()
    assert handle.result().outcome == "aborted"
    flag(tmp_path)

    run = stepsnb.resume(handle.run_id, store=store)

    assert run.outcome == "succeeded", run.error
    assert counted(log) == {"a": 1, "b": 2, "stopped": 1, "after": 2, "end": 2}


BLOCKS = {
    "in_parallel": (
        '{"in_parallel": {"steps": [' + task("a") + ", " + task("b", NEEDS_FLAG) + ", " + task("c") + "]}}",
        {"a": 1, "b": 2, "c": 1},
    ),
    "limited in_parallel": (
        '{"in_parallel": {"limit": 1, "fail_fast": true, "steps": ['
        + task("a") + ", " + task("b", NEEDS_FLAG) + ", " + task("c") + "]}}",
        {"a": 1, "b": 2, "c": 1},
    ),
    "do": (
        '{"do": [' + task("a") + ", " + task("b", NEEDS_FLAG) + ", " + task("c") + "]}",
        {"a": 1, "b": 2, "c": 1},
    ),
    "do inside in_parallel": (
        '{"in_parallel": {"steps": [{"do": ['
        + task("a") + ", " + task("b", NEEDS_FLAG) + ", " + task("c") + "]}, " + task("d") + "]}}",
        {"a": 1, "b": 2, "c": 1, "d": 1},
    ),
    "across": (
        json.dumps({
            "task": "cell",
            "across": [{"var": "n", "values": ["1", "2", "3"]}],
            "run": 'echo cell{{ .vars.n }} >> "$STEPS_LOG"; test {{ .vars.n }} != 2 || ' + NEEDS_FLAG,
        }),
        {"cell1": 1, "cell2": 2, "cell3": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS)
def test_block_that_failed_does_only_what_it_has_left(tmp_path, log, write, block):
    step, expected = BLOCKS[block]
    store = tmp_path / "store"
    pipeline = stepsnb.load(write(plan(task("first"), step, task("last"))))
    failed = pipeline.run(store=store)
    assert failed.outcome == "failed"
    flag(tmp_path)

    run = stepsnb.resume(failed.run_id, store=store)

    assert (run.run_id, run.outcome, run.error) == (failed.run_id, "succeeded", None)
    assert counted(log) == {"first": 1, **expected, "last": 1}


DONE = {
    "in_parallel": '{"in_parallel": {"steps": [' + task("a") + ", " + task("b") + "]}}",
    "race": '{"race": {"steps": [' + task("a", "sleep 30") + ", " + task("b") + "]}}",
    "do": '{"do": [' + task("a") + ", " + task("b") + "]}",
    "try that failed": '{"try": ' + task("a", "false") + "}",
    "try of a block that failed": '{"try": {"do": [' + task("a") + ", " + task("b", "false") + "]}}",
    "across": json.dumps({
        "task": "cell",
        "across": [{"var": "n", "values": ["a", "b"]}],
        "run": 'echo {{ .vars.n }} >> "$STEPS_LOG"; echo {{ .vars.n }} > made/f',
        "outputs": ["made"],
        "volatile": True,
    }),
    "failure that a route caught": task("a", "false", to={"failure": "next"}),
    "guard that said no": task("a", when="false"),
    "loop": '{"do": [' + task("a") + ", " + task(
        "b", "test $(grep -c b $STEPS_LOG) -ge 3", to={"failure": "a"}, max_visits=5
    ) + "]}",
}  # fmt: skip


@pytest.mark.parametrize("block", DONE)
def test_block_that_ended_is_not_begun_again(tmp_path, log, write, block):
    store = tmp_path / "store"
    hook = f'{{"do": [{DONE[block]}], "on_success": {task("hook")}}}'
    failed = stepsnb.load(write(plan(hook, task("last", NEEDS_FLAG)))).run(store=store)
    assert failed.outcome == "failed"
    before = counted(log)
    rows = stepsnb.steps(failed.run_id, store=store)["name"].tolist()

    flag(tmp_path)
    run = stepsnb.resume(failed.run_id, store=store)

    assert run.outcome == "succeeded"
    assert [step.name for step in run.steps] == [step.name for step in failed.steps]
    assert run.files == failed.files
    assert counted(log) - before == {"last": 1}
    assert stepsnb.steps(failed.run_id, store=store)["name"].tolist() == [*rows, "last"]


LOOP = plan(
    task("draft"),
    task("check", 'test $(grep -c draft "$STEPS_LOG") -ge 3', to={"failure": "draft"}, max_visits=5),
    task("publish", NEEDS_FLAG),
)


def test_loop_that_had_ended_keeps_its_rounds(tmp_path, log, write):
    store = tmp_path / "store"
    failed = stepsnb.load(write(LOOP)).run(store=store)
    assert counted(log) == {"draft": 3, "check": 3, "publish": 1}
    flag(tmp_path)

    run = stepsnb.resume(failed.run_id, store=store)

    assert run.outcome == "succeeded"
    assert counted(log) == {"draft": 3, "check": 3, "publish": 2}
    assert len(run.steps) == 7


def test_run_may_end_early_more_than_once(tmp_path, log, write):
    store = tmp_path / "store"
    text = plan(
        '{"do": [' + task("a", 'test -e "$FLAGS/one"') + ", " + task("b", 'test -e "$FLAGS/two"') + "], "
        '"ensure": ' + task("after") + "}",
        task("c", 'test -e "$FLAGS/three"'),
        task("d"),
    )
    run = stepsnb.load(write(text)).run(store=store)
    for name in ("one", "two", "three"):
        assert run.outcome == "failed"
        flag(tmp_path, name)
        run = stepsnb.resume(run.run_id, store=store)

    assert run.outcome == "succeeded"
    assert counted(log) == {"a": 2, "b": 2, "after": 3, "c": 2, "d": 1}
    assert [step.name for step in run.steps if step.name != "after"] == ["a", "b", "c", "d"]


def test_hook_that_was_cut_off_runs_and_its_step_does_not(tmp_path, log, write):
    store = tmp_path / "store"
    hook = json.loads(task("hook", f"{NEEDS_FLAG} || sleep 60"))
    path = write(plan(task("a", on_success=hook), task("b")))
    run_id = killed_while(path, store, log, "hook")
    flag(tmp_path)

    assert stepsnb.resume(run_id, store=store).outcome == "succeeded"
    assert counted(log) == {"a": 1, "hook": 2, "b": 1}


def test_variable_of_a_file_is_there_again(tmp_path, log, write):
    store = tmp_path / "store"
    text = plan(
        task("make", "printf '%040000d' 0 > out/f", outputs=["out"], volatile=True),
        "{load_var: word, file: out/f, inputs: [out]}",
        task("stop", NEEDS_FLAG),
        "{task: count, run: \"printf %s '((word))' | wc -c\"}",
    )
    failed = stepsnb.load(write(text)).run(store=store)
    assert failed.steps[-1].name == "stop", failed.error
    flag(tmp_path)

    assert stepsnb.resume(failed.run_id, store=store).text.strip() == "40000"


def test_step_whose_content_changed_runs_again_with_all_that_follows(tmp_path, log, write):
    store = tmp_path / "store"
    steps = [task("a"), task("b"), task("c"), task("d", NEEDS_FLAG), task("e")]
    failed = stepsnb.load(write(plan(*steps))).run(store=store)
    write(plan(*steps[:1], task("b", "echo other"), *steps[2:]))
    flag(tmp_path)

    run = stepsnb.resume(failed.run_id, store=store)

    assert run.outcome == "succeeded"
    assert counted(log) == {"a": 1, "b": 2, "c": 2, "d": 2, "e": 1}


def test_round_of_a_loop_that_changed_takes_those_after_it_with_it(tmp_path, log, write):
    store = tmp_path / "store"
    failed = stepsnb.load(write(LOOP)).run(store=store)
    log.write_text("")
    write(LOOP.replace("-ge 3", "-ge 2"))
    flag(tmp_path)

    assert stepsnb.resume(failed.run_id, store=store).outcome == "succeeded"
    assert counted(log) == {"draft": 2, "check": 3, "publish": 1}  # the first draft is from before


def test_replay_leaves_the_run_it_comes_from_as_it_was(tmp_path, log, write):
    store = tmp_path / "store"
    text = plan(
        task("a", "echo a > x/f", outputs=["x"], volatile=True, on_success=json.loads(task("hook"))),
        task("b", "cp x/f y/f; date +%N >> y/f", inputs=["x"], outputs=["y"], volatile=True),
        task("c", "cat y/f", inputs=["y"]),
    )
    first = stepsnb.load(write(text)).run(store=store)
    tables = ("steps", "requests", "turns", "tool_calls", "cost", "transcript")
    before = {name: getattr(stepsnb, name)(first.run_id, store=store) for name in tables}
    row = stepsnb.runs(store=store)
    contents = {name: path.read_bytes() for name, path in first.files.items()}

    result = command("replay", first.run_id, "--from", "b", "--store", str(store), "--json")

    assert result.returncode == 0, result.stderr
    value = json.loads(result.stdout)
    assert [step["name"] for step in value["steps"]] == ["a", "hook", "b", "c"]
    assert counted(log) == {"a": 1, "hook": 1, "b": 2, "c": 2}
    runs = stepsnb.runs(store=store).set_index("run_id")
    assert runs.loc[value["run_id"], "forked_from"] == first.run_id
    assert all(getattr(stepsnb, name)(first.run_id, store=store).equals(before[name]) for name in tables)
    assert runs.loc[[first.run_id]].equals(row.set_index("run_id"))
    assert {name: path.read_bytes() for name, path in first.files.items()} == contents


def test_replay_that_ended_early_goes_on_with_what_it_took_over(tmp_path, log, write):
    store = tmp_path / "store"
    first = stepsnb.load(write(plan(task("a"), task("b"), task("c", NEEDS_FLAG), task("d")))).run(store=store)
    second = stepsnb.replay(first.run_id, from_step="b", store=store)
    assert second.outcome == "failed"
    flag(tmp_path)

    run = stepsnb.resume(second.run_id, store=store)

    assert (run.run_id, run.outcome) == (second.run_id, "succeeded")
    assert [step.name for step in run.steps] == ["a", "b", "c", "d"]
    assert counted(log) == {"a": 1, "b": 2, "c": 3, "d": 1}
    assert stepsnb.runs(store=store).set_index("run_id").loc[run.run_id, "forked_from"] == first.run_id


def test_replay_names_the_steps_there_are(tmp_path, log, write):
    store = tmp_path / "store"
    run = stepsnb.load(write(plan(task("build"), task("test")))).run(store=store)

    result = command("replay", run.run_id, "--from", "tset", "--store", str(store))

    assert result.returncode == 2
    assert "unknown step `tset` (did you mean `test`?); available: build, test" in result.stderr


def test_pipeline_of_a_cell_with_a_secret_has_to_be_handed_in(tmp_path, log):
    store = tmp_path / "store"
    text = plan(task("a", NEEDS_FLAG, env={"TOKEN": "a-value-long-enough-to-be-a-secret"}))
    failed = stepsnb.load(text).run(store=store)
    flag(tmp_path)

    with pytest.raises(InputError, match="was no file and holds values that are kept out of the store; hand it in"):
        stepsnb.resume(failed.run_id, store=store)
    assert stepsnb.resume(failed.run_id, pipeline=text, store=store).outcome == "succeeded"


def test_variable_that_holds_a_secret_has_to_be_given_again(tmp_path, log, write):
    store, token = tmp_path / "store", "a-value-long-enough-to-be-a-secret"
    path = write(plan(task("a", NEEDS_FLAG, env={"TOKEN": "((token))"})))
    failed = stepsnb.load(path, vars={"token": token}).run(store=store)
    flag(tmp_path)

    with pytest.raises(InputError, match=r"the value of `\(\(token\)\)` is kept out of the store; give it again"):
        stepsnb.resume(failed.run_id, store=store)
    assert command("resume", failed.run_id, "--store", str(store), "--var", f"token={token}").returncode == 0


def test_pipeline_of_a_cell_without_secrets_is_in_the_store(tmp_path, log):
    store = tmp_path / "store"
    failed = stepsnb.load(plan(task("a"), task("b", NEEDS_FLAG))).run(store=store)
    flag(tmp_path)

    assert stepsnb.resume(failed.run_id, store=store).outcome == "succeeded"
    assert counted(log) == {"a": 1, "b": 2}


def test_pipeline_whose_file_is_gone_is_asked_for(tmp_path, log, write):
    store, path = tmp_path / "store", write(plan(task("a", NEEDS_FLAG)))
    failed = stepsnb.load(path).run(store=store)
    path.rename(tmp_path / "moved.yml")
    flag(tmp_path)

    result = command("resume", failed.run_id, "--store", str(store))
    assert result.returncode == 2
    assert f"its pipeline {path} is gone; put it back, or hand one in" in result.stderr

    moved = command("resume", failed.run_id, "--store", str(store), "--pipeline", "moved.yml")
    assert moved.returncode == 0, moved.stderr


def test_variables_are_those_the_run_was_given(tmp_path, log, write):
    store = tmp_path / "store"
    path = write(plan(task("a", NEEDS_FLAG), '{task: b, run: "echo ((word))"}'))
    failed = stepsnb.load(path, vars={"word": "tide"}).run(store=store)
    flag(tmp_path)

    assert stepsnb.resume(failed.run_id, store=store).text == "tide\n"


def test_versions_of_a_resumed_run_pass_on(tmp_path, log, write):
    store = tmp_path / "store"
    text = f"""
resource_types:
- {{name: counter, check: 'echo "[{{\\"n\\": \\"7\\"}}]"', in: 'echo 7 > n'}}
resources:
- {{name: ticks, type: counter}}
jobs:
- name: first
  plan:
  - get: ticks
  - {task("a", NEEDS_FLAG)}
- name: second
  plan:
  - {{get: ticks, passed: [first]}}
  - {{task: b, inputs: [ticks], run: cat ticks/n}}
"""
    pipeline = stepsnb.load(write(text))
    failed = pipeline.run("first", store=store)
    assert failed.outcome == "failed", failed.error
    assert pipeline.run("second", store=store).outcome == "errored"
    flag(tmp_path)

    assert stepsnb.resume(failed.run_id, store=store).outcome == "succeeded"
    assert pipeline.run("second", store=store).text == "7\n"


TWICE_AND_THEN = 'test -e "$FLAGS/flag" || { test $(grep -c b $STEPS_LOG) = 2 && sleep 60; false; }'
SECOND = {
    "do": '{"do": [' + task("a") + ", " + task("b", TWICE_AND_THEN) + ", " + task("c") + '], "attempts": 3}',
    "in_parallel": (
        '{"in_parallel": {"limit": 1, "steps": ['
        + task("a") + ", " + task("b", TWICE_AND_THEN) + ", " + task("c") + ']}, "attempts": 3}'
    ),
}  # fmt: skip


@pytest.mark.parametrize("block", SECOND)
def test_run_killed_in_the_second_attempt_of_a_block_goes_on_with_that_attempt(tmp_path, log, write, block):
    path, store = write(plan(task("first"), SECOND[block], task("last"))), tmp_path / "store"
    run_id = killed_while(path, store, log, "b", times=2)
    assert counted(log)["a"] == 2
    flag(tmp_path)

    run = stepsnb.resume(run_id, store=store)

    assert (run.outcome, run.error) == ("succeeded", None)
    done = counted(log)
    assert (done["first"], done["a"], done["b"], done["last"]) == (1, 2, 3, 1)
    rows = stepsnb.steps(run_id, store=store)
    blocks = rows[rows["name"] == block]
    assert blocks["outcome"].tolist()[-1] == "succeeded"
    assert set(blocks["attempt"]) <= {1, 2, 3}

"""Runs that are stopped, broken off or go on from cell to cell, down to what is left of them."""

import asyncio
import gc
import os

import pytest

from stepsnb.config import load_text
from stepsnb.engine import engine
from stepsnb.errors import InputError, StoreError
from stepsnb.events import decode_event
from stepsnb.people import GivenAnswers, Ladder
from stepsnb.plan import build_plan
from stepsnb.run import JobRun, Recorder
from stepsnb.run.context import RunContext
from stepsnb.workspace import RunWorkspace

TASKS = """
jobs:
- name: build
  plan:
  - {task: one, outputs: [out], run: echo 1 > out/a}
  - {task: two, inputs: [out], run: cat out/a}
"""


class Disk:
    """A spool that is full from its `limit`th event on, or cannot flush from its `flushes`th flush on."""

    def __init__(self, *, limit=10_000, flushes=10_000):
        self.payloads, self.limit, self.flushes = [], limit, flushes

    def append(self, payload):
        if len(self.payloads) >= self.limit:
            raise StoreError("no space left")
        self.payloads.append(payload)

    async def settle(self):
        await asyncio.sleep(0)
        self.flushes -= 1
        if self.flushes < 0:
            raise StoreError("cannot make it durable")

    @property
    def ends(self):
        events = [decode_event(payload) for payload in self.payloads]
        return [(e.kind, e.outcome) for e in events if e.kind in ("step_finished", "run_finished")]


@pytest.fixture
def job(tmp_path):
    """Build a run of the only job of `text`, kept on `disk`."""

    def job(text=TASKS, *, disk=None, watchers=()):
        pipeline = load_text(text, base_dir=tmp_path)
        context = RunContext(
            pipeline=pipeline,
            workspace=RunWorkspace(tmp_path / "store", "R"),
            recorder=Recorder("R", sink=disk or Disk(), watchers=watchers),
            ladder=Ladder(GivenAnswers.from_value(None), None),
            functions={},
        )
        return JobRun(build_plan(pipeline), context)

    return job


@pytest.fixture
def work(tmp_path):
    """Names of the working directories that are left."""
    folder = tmp_path / "store" / "work"
    return lambda: [path.name for path in folder.iterdir()] if folder.exists() else []


def test_stop_before_the_first_step_is_recorded_as_aborted(job, work):
    disk = Disk()
    run = job(disk=disk)
    task = engine().start(run.run_all())
    task.cancel()
    result = task.result(5)
    assert (result.outcome, disk.ends[-1]) == ("aborted", ("run_finished", "aborted"))
    assert work() == []


@pytest.mark.parametrize("stops", [1, 2, 5])
def test_any_number_of_stops_ends_in_one_recorded_end(job, work, stops):
    disk = Disk()
    task = engine().start(job(TASKS.replace("echo 1", "sleep 20; echo 1"), disk=disk).run_all())
    while not task.wait(0.2):
        for _ in range(stops):
            task.cancel()
            task.wait(0.01)
    result = task.result()
    assert (result.outcome, result.error) == ("aborted", "step `one` aborted: stopped")
    assert disk.ends == [("step_finished", "aborted"), ("run_finished", "aborted")]
    assert work() == []


def test_stop_while_outputs_are_captured_leaves_no_artifact(job, work, tmp_path):
    many = TASKS.replace("echo 1 > out/a", "cd out; for i in $(seq 3000); do echo $i > f$i; done")
    run = job(many, watchers=[lambda event: event.kind == "output" and task.cancel()])
    task = engine().start(run.run_all())
    result = task.result(20)
    assert (result.outcome, result.steps[-1].reason, dict(result.artifacts)) == ("aborted", "stopped", {})
    assert [e.kind for e in result.events].count("artifact") == 0
    assert work() == []
    for tree in (tmp_path / "store" / "artifacts").glob("*"):  # what was captured all the same is whole
        assert len(list(tree.iterdir())) == 3000


async def test_full_disk_ends_the_run_for_its_caller_and_its_view(job, work):
    seen = []
    run = job(disk=Disk(limit=3), watchers=[seen.append])
    with pytest.raises(StoreError, match="no space left"):
        await run.run_all()
    assert run.is_finished
    assert (run.result().outcome, run.result().error) == ("errored", "no space left")
    assert (seen[-1].kind, seen[-1].outcome) == ("run_finished", "errored")
    assert work() == []


async def test_disk_that_is_full_at_once_leaves_no_run_open(job):
    run = job(disk=Disk(limit=0))
    with pytest.raises(StoreError, match="no space left"):
        await run.run_all()
    with pytest.raises(InputError, match=r"run R has ended \(errored\)"):
        await run.run_all()


async def test_flush_that_fails_is_recorded_as_the_runs_end_where_that_still_goes(job):
    disk = Disk(flushes=0)
    with pytest.raises(StoreError, match="cannot make it durable"):
        await job(disk=disk).run_all()
    assert disk.ends == [("step_finished", "succeeded"), ("run_finished", "errored")]


@pytest.mark.parametrize("error", [ValueError("no such field"), TimeoutError("late"), KeyError("x")])
async def test_unforeseen_exception_is_recorded_and_reaches_the_caller(job, work, error):
    def broken(event):
        if event.kind == "output":
            raise error

    disk = Disk()
    run = job(disk=disk, watchers=[broken])
    with pytest.raises(type(error)):
        await run.run_all()
    assert disk.ends == [("step_finished", "errored"), ("run_finished", "errored")]
    assert run.result().error == f"unforeseen {type(error).__name__}: {error}; its traceback says where"
    assert work() == []


async def test_unforeseen_exception_is_no_success_whatever_the_job_asserts(job):
    def broken(event):
        if event.kind == "output":
            raise ValueError("no")

    run = job(TASKS.replace("- name: build", "- name: build\n  assert: {outcome: failed}"), watchers=[broken])
    with pytest.raises(ValueError, match="no"):
        await run.run_all()
    assert run.result().outcome == "errored"


async def test_jobs_own_time_stands_still_between_cells(job):
    run = job(TASKS.replace("- name: build", "- name: build\n  timeout: 1s"))
    assert (await run.run_next()).outcome is None
    await asyncio.sleep(1.1)
    assert (await run.run_next()).outcome == "succeeded"


async def test_steps_of_a_cell_stand_behind_the_plans_own(job):
    run = job()
    await run.run_next()
    extra = load_text("jobs: [{name: j, plan: [{task: two, run: 'true'}]}]").jobs[0].plan
    await run.run_steps(extra)
    result = await run.run_next()
    started = [(e.step_id, e.index) for e in result.events if e.kind == "step_started"]
    assert started == [("s1", 0), ("s2", 3), ("s3", 1)]


async def test_step_that_has_run_or_was_passed_is_refused(job):
    run = job()
    await run.run_next()
    with pytest.raises(InputError) as caught:
        await run.run_named("one")
    assert str(caught.value) == "step `one` has run already in run R; `%steps load` starts a new run"


async def test_failing_step_of_a_cell_ends_the_run(job):
    run = job()
    extra = load_text("jobs: [{name: j, plan: [{task: x, run: exit 3}, {task: y, run: 'true'}]}]").jobs[0].plan
    result = await run.run_steps(extra)
    assert (result.outcome, [step.name for step in result.steps]) == ("failed", ["x"])
    assert run.remaining == []


async def test_finished_early_the_job_is_judged_by_what_ran(job):
    run = job(TASKS.replace("- name: build", "- name: build\n  assert: {execution: [one, two]}"))
    await run.run_next()
    result = await run.finish()
    assert (result.outcome, result.error) == ("failed", "assert.execution: wanted one, two; ran one")


async def test_outputs_are_left_all_or_none(job):
    text = "jobs: [{name: j, plan: [{task: t, outputs: [a, b], run: 'rmdir b; echo x > a/x'}]}]"
    result = await job(text).run_all()
    assert (result.outcome, dict(result.artifacts)) == ("errored", {})
    assert result.steps[0].reason == "output `b`: its folder is gone; a step leaves what it makes in `b/`"


async def test_task_that_ran_out_of_time_keeps_what_it_printed(job):
    text = "jobs: [{name: j, plan: [{task: t, timeout: 1s, run: 'echo so far; sleep 20'}]}]"
    result = await job(text).run_all()
    assert (result.outcome, result.steps[0].text) == ("failed", "so far\n")
    assert result.error == "step `t` failed: timed out after 1 s (`timeout:`)"


async def test_tasks_own_assert_takes_the_place_of_its_exit_code(job):
    text = "jobs: [{name: j, plan: [{task: t, run: 'echo hi; exit 3', assert: {CRITERION}}]}]"
    by_text = await job(text.replace("CRITERION", "stdout: hi")).run_all()
    by_code = await job(text.replace("CRITERION", "code: 3")).run_all()
    wrong = await job(text.replace("CRITERION", "code: 0")).run_all()
    assert [by_text.outcome, by_code.outcome, wrong.outcome] == ["succeeded", "succeeded", "failed"]
    assert wrong.error == "step `t` failed: assert.code: wanted exit code 0, got 3"


async def test_open_run_that_is_dropped_leaves_no_folder(job, work):
    run = job()
    await run.run_next()
    assert work() == ["R"]
    del run
    gc.collect()
    assert work() == []


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
async def test_fork_that_drops_an_open_run_leaves_its_folder_alone(job, work):
    run = job()
    await run.run_next()
    pid = os.fork()
    if pid == 0:
        del run
        gc.collect()
        os._exit(0)
    os.waitpid(pid, 0)
    assert work() == ["R"]
    await run.finish()


async def test_end_that_cannot_be_recorded_is_no_success(job, work):
    whole = Disk()
    await job(disk=whole).run_all()
    run = job(disk=Disk(limit=len(whole.payloads) - 1))
    with pytest.raises(StoreError, match="no space left"):
        await run.run_all()
    assert run.result().outcome == "errored"
    assert work() == []


async def test_watcher_that_trips_over_the_end_leaves_no_folder(job, work):
    def broken(event):
        if event.kind == "run_finished":
            raise ValueError("no such field")

    disk = Disk()
    run = job(disk=disk, watchers=[broken])
    with pytest.raises(ValueError, match="no such field"):
        await run.run_all()
    assert disk.ends[-1] == ("run_finished", "errored")
    assert work() == []


def test_stop_after_a_step_has_failed_leaves_the_run_failed(job):
    run = job(
        TASKS.replace("echo 1", "exit 3; echo 1"), watchers=[lambda e: e.kind == "step_finished" and task.cancel()]
    )
    task = engine().start(run.run_all())
    result = task.result(5)
    assert (result.outcome, result.error) == ("failed", "step `one` failed: the command ended with exit code 3")


def test_stop_between_two_steps_is_the_runs_own(job):
    run = job(watchers=[lambda e: e.kind == "step_finished" and task.cancel()])
    task = engine().start(run.run_all())
    result = task.result(5)
    assert (result.outcome, result.error, len(result.steps)) == ("aborted", "stopped", 1)


@pytest.mark.parametrize("step", ["task: t, run: 'sleep 20'", "do: [{task: t, run: 'sleep 20'}]"])
async def test_step_that_ran_out_of_time_says_that_its_attempts_share_it(job, step):
    result = await job(f"jobs: [{{name: j, plan: [{{{step}, timeout: 1s, attempts: 3}}]}}]").run_all()
    assert "1 s (`timeout:`, for all 3 attempts together)" in result.error
    assert next(event.attempt for event in result.events if event.kind == "step_started") == 1

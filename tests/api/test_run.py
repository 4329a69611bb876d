"""Runs as callers hold them: finished, under way, stopped."""

import asyncio
import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import stepsnb

TWICE = """
jobs:
- name: j
  plan:
  - {task: a, outputs: [out], run: echo one > out/a.txt}
  - {task: b, inputs: [out], outputs: [out], run: 'rm out/a.txt; echo two > out/b.txt'}
"""
SLOW = "jobs: [{name: j, plan: [{task: t, run: 'sleep 60'}]}]"


def test_files_are_those_of_the_last_artifact_of_a_name(tmp_path):
    run = stepsnb.load(TWICE).run(store=tmp_path)
    assert {name: path.read_text() for name, path in run.files.items()} == {"out/b.txt": "two\n"}


def test_run_in_which_nothing_happened_has_empty_properties(tmp_path):
    handle = stepsnb.load(SLOW).start(store=tmp_path)
    handle.cancel()
    run = handle.result()
    assert (run.outcome, run.error, run.text, run.files) == ("aborted", "step `t` aborted: stopped", None, {})
    assert (run.verdict, run.note, run.data, run.cost, run.tokens.total_tokens) == (None, None, None, 0, 0)
    assert run.df()[["name", "outcome", "reason"]].values.tolist() == [["t", "aborted", "stopped"]]
    assert repr(run) == f"<Run {run.run_id} of job j: aborted, 1 steps>"
    assert run._repr_html_()


def test_open_run_has_no_outcome_yet():
    opened = stepsnb.load(TWICE).open(memory=True)
    run = opened.next().result()
    assert (run.outcome, run.to_json()["outcome"]) == (None, None)
    assert repr(run) == f"<Run {run.run_id} of job j: open, 1 steps>"


def test_json_is_made_of_plain_values():
    value = stepsnb.load(TWICE).run(memory=True).to_json()
    assert json.loads(json.dumps(value)) == value
    assert type(value["outcome"]) is str
    assert value["steps"][0] == {
        "name": "a",
        "kind": "task",
        "outcome": "succeeded",
        "verdict": None,
        "note": None,
        "response": "",
        "reason": None,
    }
    assert (type(value["steps"][0]["outcome"]), value["cost_usd"], value["error"]) == (str, 0.0, None)
    assert value["tokens"] == {"input": 0, "cached_input": 0, "cache_write": 0, "output": 0}


def test_frame_has_a_row_a_step_of_texts():
    frame = stepsnb.load(TWICE).run(memory=True).df()
    assert frame["step_id"].tolist() == ["s1", "s2"]
    assert {str(dtype) for dtype in frame.dtypes} == {"string"}
    assert type(frame.loc[0, "outcome"]) is str


AGENT = """
prices: {"((model))": {input: 2, output: 8}}
agents: [{name: a, source: {model: ((model))}}]
jobs: [{name: j, plan: [{agent: a, prompt: hi}]}]
"""


def test_cost_is_that_of_every_request(scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], usage={"input": 1000, "output": 10})
    scripted_llm.says("done", usage={"input": 2000, "cached_input": 500, "output": 20})
    run = stepsnb.load(AGENT, vars={"model": scripted_llm.model}).run(memory=True)
    assert (run.outcome, float(run.cost), run.to_json()["cost_usd"]) == ("succeeded", 0.00724, 0.00724)
    assert run.to_json()["tokens"] == {"input": 3000, "cached_input": 500, "cache_write": 0, "output": 30}


def test_failed_request_does_not_hide_what_was_spent(scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], usage={"input": 1000, "output": 10}).says(error=500)
    run = stepsnb.load(AGENT, vars={"model": scripted_llm.model}).run(memory=True)
    assert (run.outcome, float(run.cost)) == ("errored", 0.00208)


def test_step_started_names_the_tools_that_are_granted(scripted_llm):
    scripted_llm.says("done")
    text = AGENT.replace("prompt: hi", "prompt: hi, tools: [list_dir]")
    run = stepsnb.load(text, vars={"model": scripted_llm.model}).run(memory=True)
    started = next(event for event in run.events if event.kind == "step_started")
    assert (started.agent, started.model, started.tools) == ("a", scripted_llm.model, ["list_dir"])


async def test_handle_is_awaited_from_several_tasks_loops_and_threads():
    handle = stepsnb.load(SLOW.replace("60", "0.3")).start(memory=True)

    async def wait():
        return await handle

    with ThreadPoolExecutor(3) as pool:
        elsewhere = [pool.submit(asyncio.run, wait()) for _ in range(2)]
        blocked = pool.submit(handle.result)
        here = await asyncio.gather(wait(), wait())
        runs = [*here, *(future.result(10) for future in [*elsewhere, blocked])]
    assert {run.run_id for run in runs} == {handle.run_id}
    assert {run.outcome for run in runs} == {"succeeded"}


async def test_finished_handle_may_be_awaited_again():
    handle = stepsnb.load(SLOW.replace("60", "0")).start(memory=True)
    assert (await handle).run_id == (await handle).run_id == handle.result().run_id


async def test_cancelled_waiter_is_told_so_though_the_run_ends_well_as_aborted():
    handle = stepsnb.load(SLOW).start(memory=True)
    waiter = asyncio.ensure_future(handle)
    await asyncio.sleep(0.3)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert handle.result().outcome == "aborted"


async def test_cancelled_waiter_hears_nothing_of_how_the_run_broke(tmp_path):
    def broken(event):
        if event.kind == "step_finished":
            raise ValueError("no such field")

    waiter = asyncio.ensure_future(stepsnb.load(SLOW).start(store=tmp_path, on_event=broken))
    await asyncio.sleep(0.3)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter


def test_interrupt_stops_the_run_and_is_raised(tmp_path):
    handle = stepsnb.load(SLOW).start(store=tmp_path)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            handle.result()
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert time.monotonic() - began < 3.5
    assert handle.is_settled
    assert stepsnb.runs(store=tmp_path).loc[0, "outcome"] == "aborted"


def test_hundred_runs_of_one_pipeline_at_once_do_not_mix(tmp_path):
    pipeline = stepsnb.load("jobs: [{name: j, plan: [{task: t, run: 'echo ((n))'}]}]", vars={"n": ""})
    handles = [pipeline.start(store=tmp_path, vars={"n": n}) for n in range(100)]
    assert [handle.result().text for handle in handles] == [f"{n}\n" for n in range(100)]
    assert stepsnb.runs(store=tmp_path)["outcome"].tolist() == ["succeeded"] * 100


def test_exception_of_an_event_callback_ends_the_run_and_reaches_the_caller(tmp_path):
    def broken(event):
        if event.kind == "output":
            raise ValueError("no such field")

    with pytest.raises(ValueError, match="no such field"):
        stepsnb.load(TWICE).run(store=tmp_path, on_event=broken)
    row = stepsnb.runs(store=tmp_path).loc[0]
    assert (row["outcome"], row["error"]) == (
        "errored",
        "unforeseen ValueError: no such field; its traceback says where",
    )

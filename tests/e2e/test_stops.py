"""Stops, deadlines and waits of agent steps, through the public API."""

import asyncio
import json
import threading
import time

import pytest

import stepsnb
from stepsnb.people import Answer

TEXT = """
agents:
- name: writer
  source: {model: ((model))}
  {agent}
jobs:
- name: note
  plan:
  - agent: writer
    prompt: Go.
    {step}
"""


@pytest.fixture
def start(scripted_llm, tmp_path):
    """Start one agent step; agent and step keys are given as one YAML line each."""

    def start(*, agent="description: writes", step="max_questions: 3", **options):
        text = TEXT.replace("{agent}", agent).replace("{step}", step)
        pipeline = stepsnb.load(text, vars={"model": scripted_llm.model})
        return pipeline.start(store=tmp_path / "store", **options)

    return start


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


class Person:
    """Answers after a while, and says when a question has reached them."""

    def __init__(self, delay_s=60.0):
        self.delay_s, self.asked = delay_s, threading.Event()

    async def ask(self, question):
        self.asked.set()
        await asyncio.sleep(self.delay_s)
        return Answer("8443", "widget")


def wait_for(handle, is_there):
    while not is_there():
        assert not handle.wait(0.01)


def test_stop_while_a_person_is_asked_closes_the_question_and_the_call(start, scripted_llm, store):
    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"}), ("list_dir", {})], check=False)
    person = Person()
    handle = start(agent="tools: [ask_user, list_dir]", asker=person)
    assert person.asked.wait(5)
    began = time.monotonic()
    handle.cancel()
    run = handle.result()
    assert time.monotonic() - began < 3
    assert (run.outcome, run.error) == ("aborted", "step `writer` aborted: stopped")
    assert [e.phase for e in run.events if e.kind == "question"] == ["asked", "expired"]
    assert sorted(e.tool for e in run.events if e.kind == "tool" and e.phase == "end") == ["ask_user", "list_dir"]
    assert stepsnb.tool_calls(store=store).set_index("tool")["ok"].to_dict() == {"ask_user": False, "list_dir": True}


def test_stop_while_a_reply_streams_keeps_its_text_and_its_request(start, scripted_llm, store):
    scripted_llm.says("word " * 400, delay_s=0.05)
    seen = []
    handle = start(on_event=seen.append)
    wait_for(handle, lambda: any(event.kind == "text_delta" for event in seen))
    handle.cancel()
    run = handle.result()
    assert run.outcome == "aborted"
    assert stepsnb.transcript(run.run_id, store=store).set_index("role").loc["assistant", "text"].startswith("word")
    row = stepsnb.requests(store=store).loc[0]
    assert (row["error"], row["cost_usd"]) == ("cut off before the reply was complete", 0)
    assert run.cost == 0


def test_deadline_stands_still_while_a_person_is_waited_on(start, scripted_llm):
    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})]).says("done")
    run = start(agent="tools: [ask_user]", step="timeout: 1s", asker=Person(delay_s=1.3)).result()
    assert (run.outcome, run.text) == ("succeeded", "done")


def test_deadline_goes_on_after_the_answer(start, scripted_llm):
    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})])
    scripted_llm.says(calls=[("run_shell", {"command": "sleep 20"})])
    began = time.monotonic()
    run = start(agent="tools: [ask_user, run_shell]", step="timeout: 1s", asker=Person(delay_s=0.5)).result()
    assert run.error == "step `writer` failed: timed out after 1 s (`timeout:`)"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("keys", [("timeout: 1s", 'timeout: "0"'), ("timeout: 1s", "timeout: 1h")])
def test_steps_own_timeout_beats_the_agents_and_zero_is_none(start, scripted_llm, keys):
    agent, step = keys
    scripted_llm.says(calls=[("run_shell", {"command": "sleep 1.3"})]).says("done")
    run = start(agent=f"{{tools: [run_shell], {agent}}}".strip("{}").replace("], ", "]\n  "), step=step).result()
    assert run.text == "done"
    told = scripted_llm.requests[0]["messages"][0]["content"]
    assert ("You have" in told) == ("1h" in step)


def test_run_called_by_an_async_tool_nests_and_awaited_runs_still_work(start, scripted_llm):
    inner = stepsnb.load("jobs: [{name: j, plan: [{task: t, run: 'sleep 0.2; echo inner'}]}]")

    async def nested() -> str:
        """Run another pipeline, blocking."""
        return inner.run(memory=True).text

    async def awaited() -> str:
        """Run another pipeline, awaiting it."""
        async with asyncio.timeout(5):
            return (await inner.start(memory=True)).text

    scripted_llm.says(calls=[("nested", {})]).says(calls=[("awaited", {}), ("nested", {})]).says("done")
    grant = "tools: [{python: nested}, {python: awaited}]"
    functions = {"nested": nested, "awaited": awaited}
    run = start(agent=grant, functions=functions).result()
    assert (run.outcome, run.text) == ("succeeded", "done")
    assert [e.result for e in run.events if e.kind == "tool" and e.phase == "end"] == ["inner\n"] * 3

    async def cell():
        return await inner.start(memory=True)

    assert asyncio.run(cell()).text == "inner\n"


def test_stop_reaches_the_run_that_a_tool_waits_for(start, scripted_llm, store):
    inner = stepsnb.load("jobs: [{name: inner, plan: [{task: t, run: sleep 60}]}]")

    async def nested() -> str:
        """Run another pipeline, blocking."""
        return json.dumps(inner.run(store=store).to_json())

    scripted_llm.says(calls=[("nested", {})]).says("never")
    seen = []
    handle = start(agent="tools: [{python: nested}]", functions={"nested": nested}, on_event=seen.append)
    wait_for(handle, lambda: any(event.kind == "tool" for event in seen))
    time.sleep(0.3)
    handle.cancel()
    assert handle.wait(5)
    assert stepsnb.runs(store=store).set_index("job")["outcome"].to_dict() == {"inner": "aborted", "note": "aborted"}


def test_sync_tool_may_run_a_pipeline_too(start, scripted_llm):
    inner = stepsnb.load("jobs: [{name: j, plan: [{task: t, run: echo inner}]}]")

    def nested() -> str:
        """Run another pipeline."""
        return inner.run(memory=True).text

    scripted_llm.says(calls=[("nested", {})]).says("done")
    run = start(agent="tools: [{python: nested}]", functions={"nested": nested}).result()
    assert [e.result for e in run.events if e.kind == "tool" and e.phase == "end"] == ["inner\n"]


def test_list_of_answers_that_runs_out_closes_its_question(start, scripted_llm, store):
    scripted_llm.says(calls=[("ask_user", {"question": "First?"})]).says(calls=[("ask_user", {"question": "Second?"})])
    run = start(agent="tools: [ask_user]", answers=["B"]).result()
    assert run.outcome == "errored"
    assert [e.phase for e in run.events if e.kind == "question"] == ["asked", "answered", "asked", "expired"]


def test_two_questions_of_one_reply_are_asked_one_after_the_other(start, scripted_llm):
    calls = [("ask_user", {"question": "First?"}), ("ask_user", {"question": "Second?"})]
    scripted_llm.says(calls=calls).says("done")
    run = start(agent="tools: [ask_user]", answers=["A", "B"]).result()
    asked = [(e.text, e.phase) for e in run.events if e.kind == "question"]
    assert asked == [("First?", "asked"), ("First?", "answered"), ("Second?", "asked"), ("Second?", "answered")]
    assert run.text == "done"

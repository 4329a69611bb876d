"""Agents that call agents: one request in, the text of an answer out, each conversation recorded apart."""

import json

import pytest

import stepsnb
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel


@pytest.fixture
def helper_llm():
    """The sub-agent's own scripted model."""
    model = ScriptedModel("helper-of-tests")
    register_script("helper-of-tests", model.script)
    yield model
    unregister_script("helper-of-tests")


@pytest.fixture
def run(scripted_llm, helper_llm, tmp_path):
    """Run `lead`, who may call `helper`; keys of either are given as lines of YAML."""

    def run(*, lead="", helper="tools: [read_file]", grant="", step="", functions=None, **options):
        text = f"""
agents:
- name: helper
  description: Condenses a file to a line.
  source: {{model: {helper_llm.model}}}
  {helper}
- name: lead
  source: {{model: {scripted_llm.model}}}
  tools: [read_file, {{agent: helper{grant}}}]
  {lead}
jobs:
- name: digest
  assert: {{execution: [fetch, lead]}}
  plan:
  - task: fetch
    outputs: [notes]
    run: printf 'a long account' > notes/log.txt
  - agent: lead
    inputs: [notes]
    prompt: Have your helper condense notes/log.txt.
    {step}
"""
        pipeline = stepsnb.load(text, functions=functions)
        return pipeline.run(store=tmp_path / "store", **options)

    return run


def calls_helper(llm, request="Condense notes/log.txt"):
    return llm.says(calls=[("helper", {"request": request})])


def ends(run, step_id):
    return [e for e in run.events if e.kind == "tool" and e.phase == "end" and e.step_id == step_id]


def test_sub_agent_is_a_tool_with_one_request_and_the_childs_description(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("There was an outage.")
    helper_llm.says(calls=[("read_file", {"path": "notes/log.txt"})]).says("An outage.")
    result = run(step="assert: {tool_calls: [{name: helper}], stdout: outage}")
    assert result.outcome == "succeeded", result.error
    tool = next(t["function"] for t in scripted_llm.requests[0]["tools"] if t["function"]["name"] == "helper")
    assert tool["description"] == "Condenses a file to a line."
    assert list(tool["parameters"]["properties"]) == ["request"]
    assert scripted_llm.requests[1]["messages"][-1]["content"] == "An outage."


def test_child_has_a_fresh_conversation_in_the_callers_directory(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("ok")
    helper_llm.says(calls=[("read_file", {"path": "notes/log.txt"})]).says("An outage.")
    result = run()
    assert [m["content"] for m in helper_llm.requests[0]["messages"][1:]] == ["Condense notes/log.txt"]
    assert ends(result, "s2.1")[0].result == "a long account"


def test_child_has_no_entry_in_execution_and_a_record_below_the_step(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("ok")
    helper_llm.says("An outage.")
    result = run()
    assert [step.name for step in result.steps] == ["fetch", "lead"]
    started = next(e for e in result.events if e.kind == "step_started" and e.step_kind == "sub_agent")
    call = ends(result, "s2")[0]
    assert (started.step_id, started.parent_id, started.call_id) == ("s2.1", "s2", call.call_id)
    finished = next(e for e in result.events if e.kind == "step_finished" and e.step_id == "s2.1")
    assert (finished.outcome, finished.response) == ("succeeded", "An outage.")


def test_failed_child_is_data_and_the_caller_goes_on(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("I could not.")
    helper_llm.says(error=400)
    result = run()
    assert (result.outcome, result.text) == ("succeeded", "I could not.")
    (end,) = ends(result, "s2")
    assert end.ok is False
    assert json.loads(end.result)["error"].startswith("agent `helper` errored: ")


def test_several_children_of_one_reply_run_side_by_side(run, scripted_llm, helper_llm):
    scripted_llm.says(calls=[("helper", {"request": "one"}), ("helper", {"request": "two"})]).says("ok")
    helper_llm.says("first", delay_s=0.2).says("second", delay_s=0.2)
    result = run()
    started = [e.seq for e in result.events if e.kind == "step_started" and e.step_kind == "sub_agent"]
    finished = [e.seq for e in result.events if e.kind == "step_finished" and e.step_kind == "sub_agent"]
    assert max(started) < min(finished)
    assert len(started) == 2


def test_missing_key_of_a_child_ends_the_step_before_the_parents_first_request(run, scripted_llm, monkeypatch):
    monkeypatch.delenv("HELPER_KEY", raising=False)
    text = """
agents:
- name: helper
  source: {endpoint: "http://127.0.0.1:9/v1", model: m, api_key_env: HELPER_KEY}
- name: lead
  source: {model: ((model))}
  tools: [{agent: helper}]
jobs: [{name: j, plan: [{agent: lead, prompt: Go.}]}]
"""
    result = stepsnb.load(text, vars={"model": scripted_llm.model}).run(memory=True)
    assert (result.outcome, scripted_llm.request_count) == ("errored", 0)
    assert "HELPER_KEY" in result.error


def test_childs_deadline_is_data_for_the_caller(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("It took too long.")
    helper_llm.says("late", delay_s=20)
    result = run(helper="timeout: 1s")
    assert (result.outcome, result.text) == ("succeeded", "It took too long.")
    assert "timed out after 1 s" in ends(result, "s2")[0].result


def test_timeout_of_the_grant_bounds_one_call_of_the_child(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("It took too long.")
    helper_llm.says("late", delay_s=20)
    result = run(grant=", timeout: 1s")
    assert result.text == "It took too long."
    assert "timed out after 1 s" in ends(result, "s2")[0].result
    finished = next(e for e in result.events if e.kind == "step_finished" and e.step_id == "s2.1")
    assert (finished.outcome, finished.reason) == ("failed", "timed out (`timeout:` of the grant)")


def test_child_asks_people_under_its_own_name(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("ok")
    helper_llm.says(calls=[("ask_user", {"question": "Which log?"})]).says("The log.")
    result = run(helper="tools: [ask_user]", answers={"which log": "the first"})
    assert result.outcome == "succeeded"
    asked = next(e for e in result.events if e.kind == "question")
    assert (asked.agent, asked.step_id) == ("helper", "s2.1")


def test_childs_question_nobody_answers_aborts_the_step(run, scripted_llm, helper_llm):
    calls_helper(scripted_llm).says("never")
    helper_llm.says(calls=[("ask_user", {"question": "Which log?"})])
    result = run(helper="tools: [ask_user]")
    assert (result.outcome, scripted_llm.request_count) == ("aborted", 1)
    assert "Which log?" in result.error


def test_tokens_of_children_are_part_of_the_runs(run, scripted_llm, helper_llm):
    scripted_llm.says(calls=[("helper", {"request": "x"})], usage=100).says("ok", usage=200)
    helper_llm.says("An outage.", usage=40)
    assert run().tokens.input_tokens == 340


def test_stop_ends_the_child_with_the_step(run, scripted_llm, helper_llm, tmp_path):
    calls_helper(scripted_llm)
    helper_llm.says("late", delay_s=60)
    text = f"""
agents:
- {{name: helper, source: {{model: {helper_llm.model}}}}}
- {{name: lead, source: {{model: {scripted_llm.model}}}, tools: [{{agent: helper}}]}}
jobs: [{{name: j, plan: [{{agent: lead, prompt: Go.}}]}}]
"""
    handle = stepsnb.load(text).start(memory=True)
    while not helper_llm.request_count:
        assert not handle.wait(0.01)
    handle.cancel()
    result = handle.result()
    assert result.outcome == "aborted"
    ended = {e.step_id: e.outcome for e in result.events if e.kind == "step_finished"}
    assert ended == {"s1.1": "aborted", "s1": "aborted"}

"""The retry policy of every kind of effect, as the effects of a real step are given it."""

import json

import pytest

import stepsnb
from stepsnb.agent import turn
from stepsnb.effects import RetryPolicy, policy_for
from stepsnb.llm import register_script, unregister_script
from stepsnb.people import Answer
from stepsnb.run import conversation
from stepsnb.tools import attempts
from tests.support.fixtures_llm import ScriptedModel

LLM = RetryPolicy(
    queue_timeout_s=60, run_timeout_s=540, total_timeout_s=1_800, max_attempts=3, backoff_base_s=2, backoff_max_s=8
)
TOOL = RetryPolicy(
    queue_timeout_s=None, run_timeout_s=120, total_timeout_s=600, max_attempts=1, backoff_base_s=2, backoff_max_s=30
)
SUB_AGENT = RetryPolicy(
    queue_timeout_s=30, run_timeout_s=10, total_timeout_s=3_600, max_attempts=3, backoff_base_s=2, backoff_max_s=15
)
CONNECTOR_CALL = RetryPolicy(
    queue_timeout_s=60, run_timeout_s=60, total_timeout_s=600, max_attempts=2, backoff_base_s=1, backoff_max_s=10
)
CONNECTOR_FETCH = RetryPolicy(
    queue_timeout_s=10, run_timeout_s=5, total_timeout_s=30, max_attempts=2, backoff_base_s=2, backoff_max_s=10
)


@pytest.fixture
def given(monkeypatch):
    """Collect the policies that requests, calls of tools and starts of sub-agents are run with."""
    seen = {}
    for place in (turn, attempts, conversation):

        def spied(policy, *args, _place=place, _run=place.run_effect, **options):
            seen.setdefault(_place, []).append(policy)
            return _run(policy, *args, **options)

        monkeypatch.setattr(place, "run_effect", spied)
    return seen


def test_request_to_the_model(run, scripted_llm, given):
    scripted_llm.says("done")
    run()
    assert given == {turn: [LLM]}


@pytest.mark.parametrize(
    "tool", ["read_file", "run_shell", {"name": "pwd", "description": "Says where.", "run": "pwd"}]
)
def test_call_of_a_tool(run, scripted_llm, given, tool):
    name = tool if isinstance(tool, str) else tool["name"]
    arguments = {"read_file": {"path": "data/a.txt"}, "run_shell": {"command": "true"}}.get(name, {})
    scripted_llm.says(calls=[(name, arguments)]).says("done")
    run(agent={"tools": [tool]})
    assert given[attempts] == [TOOL]


def test_call_of_a_python_function(run, scripted_llm, given):
    scripted_llm.says(calls=[("tide", {})]).says("done")
    run(agent={"tools": [{"python": "tide"}]}, functions={"tide": lambda: "4.1 m"})
    assert given[attempts] == [TOOL]


def test_question_for_a_person_has_no_clock(run, scripted_llm, given):
    class Person:
        async def ask(self, question):
            return Answer("8443", "widget")

    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})]).says("done")
    run(agent={"tools": ["ask_user"]}, asker=Person())
    (policy,) = given[attempts]
    assert (policy.queue_timeout_s, policy.run_timeout_s, policy.total_timeout_s) == (None, None, None)
    assert policy.max_attempts == 1


def test_start_of_a_sub_agent_and_the_call_that_waits_for_it(scripted_llm, given):
    helper = ScriptedModel("helper-of-numbers")
    register_script("helper-of-numbers", helper.script)
    helper.says("An outage.")
    scripted_llm.says(calls=[("helper", {"request": "Condense."})]).says("done")
    agents = [
        {"name": "helper", "source": {"model": helper.model}},
        {"name": "lead", "source": {"model": scripted_llm.model}, "tools": [{"agent": "helper"}]},
    ]
    jobs = [{"name": "j", "plan": [{"agent": "lead", "prompt": "Go."}]}]
    try:
        stepsnb.load(json.dumps({"agents": agents, "jobs": jobs})).run(memory=True)
    finally:
        unregister_script("helper-of-numbers")
    assert given[conversation] == [SUB_AGENT]
    (policy,) = given[attempts]
    assert (policy.queue_timeout_s, policy.run_timeout_s, policy.total_timeout_s) == (None, None, None)


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("llm", LLM),
        ("tool", TOOL),
        ("subagent", SUB_AGENT),
        ("connector_call", CONNECTOR_CALL),
        ("connector", CONNECTOR_FETCH),
    ],
)
def test_kind_of_effect(kind, policy):
    assert policy_for(kind) == policy


def test_waits_before_the_retries_of_a_tool_grow_from_two_to_thirty_seconds(run, scripted_llm, waits):
    def down() -> str:
        raise stepsnb.ToolError("down", retryable=True)

    scripted_llm.says(calls=[("down", {})]).says("done")
    grant = {"python": "down", "retry": {"max_attempts": 7}}
    run(agent={"tools": [grant]}, functions={"down": down})
    assert waits == [2, 4, 8, 16, 30, 30]

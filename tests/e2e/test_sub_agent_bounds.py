"""What bounds a sub-agent is its own, and it is told of the deadline that holds for it."""

import json

import pytest

import stepsnb
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel


@pytest.fixture
def helper_llm():
    """The sub-agent's own scripted model."""
    model = ScriptedModel("bounded-helper")
    register_script("bounded-helper", model.script)
    yield model
    unregister_script("bounded-helper")


@pytest.fixture
def run(scripted_llm, helper_llm):
    """Run `lead`, who calls `helper` once; the keys of both are given."""

    def run(helper=None, lead=None):
        scripted_llm.says(calls=[("helper", {"request": "x"})]).says("ok")
        agents = [
            {"name": "helper", "source": {"model": helper_llm.model}, **(helper or {})},
            {"name": "lead", "source": {"model": scripted_llm.model}, "tools": [{"agent": "helper"}], **(lead or {})},
        ]
        jobs = [{"name": "j", "plan": [{"agent": "lead", "prompt": "Go."}]}]
        return stepsnb.load(json.dumps({"agents": agents, "jobs": jobs})).run(memory=True)

    return run


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_its_own_attempts_count(run, helper_llm, attempts):
    for _ in range(9):
        helper_llm.says(error=503)
    run({"attempts": attempts, "retry": {"llm": {"backoff_base_secs": 0.001}}})
    assert helper_llm.request_count == attempts


@pytest.mark.parametrize(
    ("helper", "lead", "told"),
    [
        ({}, {}, "30 minutes"),
        ({"timeout": "0"}, {"timeout": "0"}, "1 hour"),
        ({}, {"retry": {"subagent": {"total_timeout_secs": 60}}}, "1 minute"),
        ({"timeout": "10m"}, {}, "10 minutes"),
    ],
)
def test_deadline_it_is_told_is_the_one_that_holds(run, helper_llm, helper, lead, told):
    helper_llm.says("done")
    run(helper, lead)
    assert f"You have {told} for all of it." in helper_llm.requests[0]["messages"][0]["content"]


def test_child_is_told_the_time_its_grant_leaves_it(run, helper_llm):
    helper_llm.says("done")
    run(lead={"tools": [{"agent": "helper", "timeout": "2m"}]})
    assert "You have 2 minutes for all of it." in helper_llm.requests[0]["messages"][0]["content"]

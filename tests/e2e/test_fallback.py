"""A conversation goes on with the next source once the one it is on is down and its attempts are spent."""

import json

import pytest

import stepsnb
from stepsnb.errors import ConfigError
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel

QUICK = {"llm": {"backoff_base_secs": 0.001}}


@pytest.fixture
def second():
    model = ScriptedModel("fallback-second")
    register_script(model.script.name, model.script)
    yield model
    unregister_script(model.script.name)


@pytest.fixture
def run(scripted_llm, second, store):
    """Run steps of agent `a`, whose second source is `second`."""

    def run(*steps, **keys):
        fallback = [{"source": {"model": second.model}}]
        agent = {"name": "a", "source": {"model": scripted_llm.model}, "retry": QUICK, "fallback": fallback, **keys}
        agent.setdefault("tools", ["list_dir"])
        text = {"agents": [agent], "jobs": [{"name": "job", "plan": list(steps)}]}
        return stepsnb.load(json.dumps(text)).run(store=store)

    return run


GO = {"agent": "a", "prompt": "Go."}


def ended(result):
    return next(event for event in result.events if event.kind == "step_finished")


def failovers(result):
    return [event for event in result.events if event.kind == "failover"]


def test_next_source_gets_the_conversation_as_it_stands(run, scripted_llm, second):
    scripted_llm.says(calls=[("list_dir", {})])
    for _ in range(3):
        scripted_llm.says(error=(503, "overloaded"))
    second.says("Nothing is here.")
    result = run(GO)
    assert (result.outcome, result.text) == ("succeeded", "Nothing is here.")
    sent = second.requests[0]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert sent[:4] == scripted_llm.requests[1]["messages"]
    assert [tool["function"]["name"] for tool in second.requests[0]["tools"]] == ["list_dir"]
    assert ended(result).fallback_model == second.model
    (event,) = failovers(result)
    assert (event.from_model, event.to_model) == (scripted_llm.model, second.model)
    assert "overloaded" in event.reason


def test_one_attempt_falls_over_at_the_first_failure(run, scripted_llm, second):
    scripted_llm.says(error=(503, "overloaded"))
    second.says("Done.")
    result = run({**GO, "attempts": 1})
    assert (result.outcome, scripted_llm.request_count, second.request_count) == ("succeeded", 1, 1)


def test_source_that_serves_is_not_left(run, scripted_llm, second):
    scripted_llm.says(error=(503, "overloaded")).says("Done.")
    result = run(GO)
    assert (result.outcome, second.request_count, ended(result).fallback_model) == ("succeeded", 0, None)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429])
def test_refusal_is_no_outage(run, scripted_llm, second, status):
    for _ in range(3):
        scripted_llm.says(error=(status, "no"))
    result = run(GO)
    assert (result.outcome, second.request_count) == ("errored", 0)


def test_spent_turns_are_no_outage(run, scripted_llm, second):
    scripted_llm.says(calls=[("list_dir", {})]).says("So far.")
    result = run({**GO, "max_turns": 1})
    assert (result.outcome, second.request_count) == ("succeeded", 0)


def test_turns_of_both_sources_are_of_one_budget(run, scripted_llm, second):
    scripted_llm.says(calls=[("list_dir", {})])
    for _ in range(3):
        scripted_llm.says(error=(503, "overloaded"))
    second.says(calls=[("list_dir", {})]).says("So far.")
    result = run({**GO, "max_turns": 2})
    assert (result.outcome, ended(result).wrapped_up, second.request_count) == ("succeeded", True, 2)


def test_one_deadline_holds_for_both(run, scripted_llm, second):
    scripted_llm.says(error=(503, "overloaded"))
    second.says("Late.", delay_s=20)
    result = run({**GO, "attempts": 1, "timeout": "1s"})
    assert (result.outcome, "timed out after 1 s" in result.error) == ("failed", True)


def test_next_conversation_of_the_agent_begins_where_it_was_served(run, scripted_llm, second):
    scripted_llm.says(error=(503, "overloaded"))
    second.says("One.").says("Two.")
    result = run({**GO, "attempts": 1}, GO)
    assert (result.outcome, scripted_llm.request_count, second.request_count) == ("succeeded", 1, 2)


def test_all_sources_down_is_errored_with_the_last_reason(run, scripted_llm, second):
    scripted_llm.says(error=(503, "overloaded"))
    second.says(error=(502, "bad gateway"))
    result = run({**GO, "attempts": 1})
    assert result.outcome == "errored"
    assert "bad gateway" in result.error
    assert [event.to_model for event in failovers(result)] == [second.model]


def test_server_that_is_not_there_is_an_outage(scripted_llm, second, store):
    second.says("Done.")
    agent = {
        "name": "a",
        "source": {"model": "m", "endpoint": "http://127.0.0.1:9/v1"},
        "context_window": 9_000,
        "attempts": 1,
        "fallback": [{"source": {"model": second.model}}],
    }
    text = {"agents": [agent], "jobs": [{"name": "job", "plan": [GO]}]}
    assert stepsnb.load(json.dumps(text)).run(store=store).outcome == "succeeded"


def test_dollars_need_the_price_of_every_source(scripted_llm, second, wire_server, store):
    agent = {
        "name": "a",
        "source": {"model": scripted_llm.model},
        "budget": {"usd": 1},
        "fallback": [{"source": {"model": "nobody-knows", "endpoint": wire_server.base_url}}],
    }
    text = {"agents": [agent], "jobs": [{"name": "job", "plan": [GO]}]}
    result = stepsnb.load(json.dumps(text)).run(store=store)
    assert (result.outcome, scripted_llm.request_count) == ("errored", 0)
    assert "nobody knows the price of `nobody-knows`" in result.error


def test_fallback_is_no_part_of_what_a_step_is(scripted_llm, second, store):
    def hashes(**keys):
        agent = {"name": "a", "source": {"model": scripted_llm.model}, **keys}
        text = {"agents": [agent], "jobs": [{"name": "job", "plan": [GO]}]}
        return stepsnb.load(json.dumps(text)).plan(store=store)["hash"].tolist()

    assert hashes() == hashes(fallback=[{"source": {"model": second.model}}])


@pytest.mark.parametrize(
    ("fallback", "words"),
    [
        ([{}], "is missing"),
        ([{"source": {}}], "names no model"),
        ([{"source": {"model": "openai/x"}, "model": "y"}], "unknown"),
        ({"source": {"model": "openai/x"}}, "must be a list"),
    ],
)
def test_fallback_that_makes_no_sense_is_an_error(fallback, words):
    agent = {"name": "a", "source": {"model": "openai/o"}, "fallback": fallback}
    with pytest.raises(ConfigError, match=words):
        stepsnb.load(json.dumps({"agents": [agent], "jobs": [{"name": "job", "plan": [GO]}]}))

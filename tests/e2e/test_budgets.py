"""What agents and jobs may spend: nothing is sent and no tool runs once it is spent, and no route catches that."""

import json

import pytest

import stepsnb
from stepsnb.errors import ConfigError, InputError
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel


@pytest.fixture
def helper_llm():
    model = ScriptedModel("budgets-helper")
    register_script(model.script.name, model.script)
    yield model
    unregister_script(model.script.name)


@pytest.fixture
def run(scripted_llm, helper_llm, store):
    """Run a plan of agent `lead`, who may call `helper`."""

    def run(*steps, lead=None, helper=None, budget=None, defaults=None, prices=None, **options):
        tools = ["list_dir", {"agent": "helper"}]
        agents = [
            {"name": "lead", "source": {"model": scripted_llm.model}, "tools": tools, **(lead or {})},
            {"name": "helper", "source": {"model": helper_llm.model}, "tools": ["list_dir"], **(helper or {})},
        ]
        job = {"name": "job", "plan": list(steps), **({"budget": budget} if budget else {})}
        text = {"agents": agents, "jobs": [job], "defaults": defaults or {}, "prices": prices or {}}
        options.setdefault("store", store)
        return stepsnb.load(json.dumps(text)).run(**options)

    return run


GO = {"agent": "lead", "prompt": "Go."}


def usage(tokens):
    return {"input": tokens - 10, "output": 10}


def test_breach_ends_the_step_before_its_next_tool_call(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], usage=usage(1_000))
    result = run(GO, {"task": "after", "run": "true"}, lead={"budget": {"tokens": 1_000}})
    assert (result.outcome, scripted_llm.request_count) == ("errored", 1)
    assert "the budget of agent `lead` is spent: 1,000 of 1,000 tokens" in result.error
    assert [event.phase for event in result.events if event.kind == "tool"] == []


def test_answer_that_spends_the_last_of_it_counts(run, scripted_llm):
    scripted_llm.says("Done.", usage=usage(5_000))
    assert run(GO, lead={"budget": {"tokens": 1_000}}).outcome == "succeeded"


def test_next_message_is_not_put_once_it_is_spent(run, scripted_llm):
    scripted_llm.says("One.", usage=usage(2_000))
    result = run({"agent": "lead", "messages": ["One?", "Two?"]}, lead={"budget": {"tokens": 1_000}})
    assert (result.outcome, scripted_llm.request_count) == ("errored", 1)


def test_cached_input_counts_as_input(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], usage={"input": 100, "cached_input": 900, "output": 10})
    result = run(GO, lead={"budget": {"tokens": 1_000}})
    assert "1,010 of 1,000 tokens" in result.error


def test_no_route_and_no_try_of_the_step_itself_catches_it(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], usage=usage(1_000))
    step = {**GO, "verdicts": ["fine", {"failure": "after"}]}
    result = run(step, {"task": "after", "run": "true"}, lead={"budget": {"tokens": 1_000}})
    assert (result.outcome, [step.name for step in result.steps]) == ("errored", ["lead"])


def test_on_error_fires(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], usage=usage(1_000))
    result = run({**GO, "on_error": {"task": "told", "run": "true"}}, lead={"budget": {"tokens": 1_000}})
    assert [step.name for step in result.steps] == ["lead", "told"]


def test_wrap_up_that_breaks_the_ceiling_is_errored_and_not_marked(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})], usage=usage(500)).says("So far.", usage=usage(600))
    result = run({**GO, "max_turns": 1}, lead={"budget": {"tokens": 1_000}})
    ended = next(event for event in result.events if event.kind == "step_finished")
    assert (ended.outcome, ended.wrapped_up) == ("errored", False)
    assert "1,100 of 1,000 tokens" in ended.reason


def test_each_conversation_of_an_agent_has_its_own(run, scripted_llm):
    scripted_llm.says("One.", usage=usage(900)).says("Two.", usage=usage(900))
    assert run(GO, GO, lead={"budget": {"tokens": 1_000}}).outcome == "succeeded"


def test_job_has_one_for_all_its_steps(run, scripted_llm):
    scripted_llm.says("One.", usage=usage(900)).says("Two.", usage=usage(900))
    result = run(GO, GO, GO, budget={"tokens": 1_500})
    assert (result.outcome, scripted_llm.request_count) == ("errored", 2)
    assert "the budget of job `job` is spent: 1,800 of 1,500 tokens" in result.error


def test_resumed_run_goes_on_with_what_its_job_has_left(run, scripted_llm, store, tmp_path, monkeypatch):
    monkeypatch.setenv("FLAGS", str(tmp_path))
    gate = {"task": "gate", "run": 'test -e "$FLAGS/flag"'}
    scripted_llm.says("One.", usage=usage(900))
    first = run(GO, gate, GO, budget={"tokens": 900})
    assert first.outcome == "failed"
    (tmp_path / "flag").touch()
    resumed = stepsnb.resume(first.run_id, store=store)
    assert (resumed.outcome, scripted_llm.request_count) == ("errored", 1)
    assert "900 of 900 tokens" in resumed.error


def ask_helper(scripted_llm, tokens=100):
    scripted_llm.says(calls=[("helper", {"request": "Help."})], usage=usage(tokens))


def test_what_a_helper_spends_is_its_callers(run, scripted_llm, helper_llm):
    ask_helper(scripted_llm)
    helper_llm.says("Helped.", usage=usage(950))
    result = run(GO, lead={"budget": {"tokens": 1_000}, "delegate_budget_percent": 100})
    assert (result.outcome, scripted_llm.request_count) == ("errored", 1)
    assert "the budget of agent `lead` is spent: 1,050 of 1,000 tokens" in result.error


@pytest.mark.parametrize(
    ("lead", "helper", "defaults", "limit"),
    [
        ({}, {}, None, 990),
        ({}, {}, {"delegate_budget_percent": 20}, 1_980),
        ({"delegate_budget_percent": 50}, {}, {"delegate_budget_percent": 20}, 4_950),
        ({"delegate_budget_percent": 50}, {"budget": {"tokens": 300}}, None, 300),
        ({}, {"budget": {"tokens": 30_000}}, None, 990),
    ],
)
def test_helper_gets_a_share_of_what_is_left_or_its_own_if_smaller(
    run, scripted_llm, helper_llm, ends, lead, helper, defaults, limit
):
    ask_helper(scripted_llm)
    scripted_llm.says("I go on alone.")
    helper_llm.says(calls=[("list_dir", {})], usage=usage(limit))
    result = run(GO, lead={"budget": {"tokens": 10_000}, **lead}, helper=helper, defaults=defaults)
    assert result.outcome == "succeeded", result.error
    told = next(end.result for end in ends(result) if end.tool == "helper")
    assert f"the budget of agent `helper` is spent: {limit:,} of {limit:,} tokens" in told


def test_helper_that_cannot_be_paid_is_refused_as_data(run, scripted_llm, helper_llm, ends):
    ask_helper(scripted_llm, tokens=990)
    scripted_llm.says("I go on alone.", usage=usage(20))
    result = run(GO, lead={"budget": {"tokens": 1_000}})
    assert (result.outcome, helper_llm.request_count) == ("succeeded", 0)
    assert "agent `helper` was not called: 1 tokens of the budget are left" in ends(result)[0].result


def test_dollars_bound_a_hosted_agent(run, scripted_llm):
    prices = {scripted_llm.model: {"input": 1_000, "output": 1_000}}
    scripted_llm.says(calls=[("list_dir", {})], usage=usage(2_000))
    result = run(GO, lead={"budget": {"usd": 1.5}}, prices=prices)
    assert (result.outcome, scripted_llm.request_count) == ("errored", 1)
    assert "the budget of agent `lead` is spent: $2.0000 of $1.5000" in result.error


@pytest.fixture
def uncounted(wire_server, store):
    """Run three steps at a server that says nothing of tokens; returns the result and how often it was asked."""
    for _ in range(3):
        wire_server.says(200, {"choices": [{"message": {"content": "Done."}, "finish_reason": "stop"}]})

    def uncounted(**budget):
        source = {"model": "m1", "endpoint": wire_server.base_url, "stream": False}
        agent = {"name": "a", "source": source, "tools": [], "context_window": 9000}
        plan = [{"agent": "a", "prompt": f"Part {n}."} for n in range(3)]
        job = {"name": "job", "plan": plan, "budget": budget} if budget else {"name": "job", "plan": plan}
        text = {"agents": [agent], "jobs": [job], "prices": {"m1": {"input": 2, "output": 8}}}
        return stepsnb.load(json.dumps(text)).run(store=store), len(wire_server.requests)

    return uncounted


@pytest.mark.parametrize("is_cap", [False, True])
def test_dollars_nobody_counts_are_not_spent_on_and_on(uncounted, store, is_cap):
    if is_cap:
        stepsnb.cap("5", store=store)
    result, requests = uncounted(**({} if is_cap else {"usd": 5}))
    assert (result.outcome, requests) == ("errored", 1)
    assert "is in US dollars and nobody knows what a reply of `m1` cost; use a server that reports" in result.error


def test_reply_without_tokens_counts_for_nothing_where_no_dollars_are_bounded(uncounted):
    result, requests = uncounted(tokens=1_000)
    assert (result.outcome, requests) == ("succeeded", 3)


def test_dollars_of_a_job_are_those_of_all_steps(run, scripted_llm):
    prices = {scripted_llm.model: {"input": 1_000, "output": 1_000}}
    scripted_llm.says("One.", usage=usage(1_000)).says("Two.", usage=usage(1_000))
    result = run(GO, GO, GO, budget={"usd": 1.5}, prices=prices)
    assert (result.outcome, scripted_llm.request_count) == ("errored", 2)
    assert "the budget of job `job` is spent: $2.0000 of $1.5000" in result.error


@pytest.mark.parametrize("where", ["agent", "job"])
def test_unknown_price_is_refused_before_the_first_call(wire_server, store, where):
    agent = {
        "name": "a",
        "source": {"model": "nobody-knows", "endpoint": wire_server.base_url},
        "context_window": 9_000,
    }
    job = {"name": "job", "plan": [{"agent": "a", "prompt": "Go."}]}
    (agent if where == "agent" else job)["budget"] = {"usd": 1}
    result = stepsnb.load(json.dumps({"agents": [agent], "jobs": [job]})).run(store=store)
    assert (result.outcome, wire_server.requests) == ("errored", [])
    assert "nobody knows the price of `nobody-knows`; add `prices: {nobody-knows:" in result.error


def test_two_hundred_cells_keep_within_one_turn_each_of_their_jobs_budget(scripted_llm, store):
    for _ in range(200):
        scripted_llm.says(calls=[("list_dir", {})], usage=usage(100))
    cell = {
        **GO,
        "across": [{"var": "n", "values": [str(n) for n in range(200)]}],
        "max_in_flight": 200,
        "prompt": "Do {{ .vars.n }}.",
    }
    agents = [{"name": "lead", "source": {"model": scripted_llm.model}}]
    text = {"agents": agents, "jobs": [{"name": "job", "plan": [cell], "budget": {"tokens": 5_000}}]}
    result = stepsnb.load(json.dumps(text)).run(store=store)
    assert result.outcome == "errored"
    assert 5_000 <= result.tokens.total_tokens <= 5_000 + 200 * 100


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({}, "bounds nothing"),
        ({"tokens": 0}, "below 1"),
        ({"usd": 0}, "lets nothing be spent"),
        ({"usd": -1}, "below 0"),
        ({"token": 5}, "did you mean `tokens`"),
    ],
)
def test_budget_that_makes_no_sense_is_an_error(budget, words):
    agent = {"name": "a", "source": {"model": "openai/o"}, "budget": budget}
    text = {"agents": [agent], "jobs": [{"name": "j", "plan": [{"agent": "a", "prompt": "x"}]}]}
    with pytest.raises(ConfigError, match=words):
        stepsnb.load(json.dumps(text))


def test_cap_holds_over_all_runs_of_a_store(run, scripted_llm, store):
    prices = {scripted_llm.model: {"input": 1_000, "output": 1_000}}
    stepsnb.cap("1.50", store=store)
    scripted_llm.says("One.", usage=usage(1_000)).says("Two.", usage=usage(1_000))
    assert run(GO, prices=prices).outcome == "succeeded"
    assert run(GO, prices=prices).outcome == "succeeded"
    result = run(GO, prices=prices)
    assert (result.outcome, scripted_llm.request_count) == ("errored", 2)
    assert "the budget of all runs of this store (`cap`) is spent: $2.0000 of $1.5000" in result.error
    assert stepsnb.cap(store=store).left_usd == 0
    stepsnb.cap(off=True, store=store)
    scripted_llm.says("Three.", usage=usage(1_000))
    assert run(GO, prices=prices).outcome == "succeeded"


def test_resumed_run_is_not_counted_twice_by_a_cap(run, scripted_llm, store, tmp_path, monkeypatch):
    monkeypatch.setenv("FLAGS", str(tmp_path))
    stepsnb.cap(9, store=store)
    scripted_llm.says("One.", usage=usage(1_000))
    prices = {scripted_llm.model: {"input": 1_000, "output": 1_000}}
    first = run(GO, {"task": "gate", "run": 'test -e "$FLAGS/flag"'}, prices=prices)
    (tmp_path / "flag").touch()
    stepsnb.resume(first.run_id, store=store)
    assert stepsnb.cap(store=store).spent_usd == 1


@pytest.mark.parametrize("amount", ["much", "-1", "0", "nan", "inf"])
def test_cap_that_is_no_amount_is_an_error(store, amount):
    with pytest.raises(InputError, match=f"cap `{amount}`: give"):
        stepsnb.cap(amount, store=store)

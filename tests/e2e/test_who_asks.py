"""How often a step may ask, and under whose name a question stands: the agent's that asked."""

import json

import pytest

import stepsnb
from stepsnb.errors import ConfigError
from stepsnb.llm import register_script, unregister_script
from stepsnb.people import Answer
from tests.support.fixtures_llm import ScriptedModel


@pytest.fixture
def other_llm():
    model = ScriptedModel("who-asks-other")
    register_script(model.script.name, model.script)
    yield model
    unregister_script(model.script.name)


@pytest.fixture
def run(scripted_llm, other_llm, store):
    """Run steps of agent `lead`, who may call `helper`; both may ask, and every question has an answer."""

    def run(*steps, **lead):
        tools = ["ask_user", {"agent": "helper"}]
        agents = [
            {"name": "lead", "source": {"model": scripted_llm.model}, "tools": tools, **lead},
            {"name": "helper", "source": {"model": other_llm.model}, "tools": ["ask_user"]},
        ]
        text = {"agents": agents, "jobs": [{"name": "job", "plan": list(steps)}]}
        return stepsnb.load(json.dumps(text)).run(store=store, answers={"": "yes"})

    return run


def ask(number):
    return ("ask_user", {"question": f"Question {number}?"})


@pytest.mark.parametrize(
    ("agent", "step", "allowed"),
    [({}, {}, 3), ({"max_questions": 1}, {}, 1), ({"max_questions": 1}, {"max_questions": 2}, 2)],
)
def test_so_many_questions_are_asked_and_one_more_comes_back_as_data(run, scripted_llm, ends, agent, step, allowed):
    for number in range(allowed + 1):
        scripted_llm.says(calls=[ask(number)])
    scripted_llm.says("Done.")
    result = run({"agent": "lead", "prompt": "Ask.", **step}, **agent)
    assert result.outcome == "succeeded", result.error
    told = [json.loads(end.result) for end in ends(result)]
    assert [each["answered"] for each in told] == [True] * allowed + [False]
    assert f"may ask {allowed} questions (`max_questions`)" in told[-1]["note"]
    asked = [event for event in result.events if event.kind == "question" and event.phase == "asked"]
    assert len(asked) == allowed


def test_question_that_was_answered_before_costs_none_of_them(run, scripted_llm):
    for _ in range(3):
        scripted_llm.says(calls=[ask(1)])
    scripted_llm.says(calls=[ask(2)]).says("Done.")
    result = run({"agent": "lead", "prompt": "Ask.", "max_questions": 2})
    answered = [json.loads(e.result)["answered"] for e in result.events if e.kind == "tool" and e.phase == "end"]
    assert answered == [True] * 4


def test_sub_agent_asks_under_its_own_name(run, scripted_llm, other_llm, store):
    scripted_llm.says(calls=[("helper", {"request": "Find out."})]).says("Done.")
    other_llm.says(calls=[ask(1)]).says("It is yes.")
    result = run({"agent": "lead", "prompt": "Go."})
    assert result.outcome == "succeeded", result.error
    assert stepsnb.questions(store=store)["agent"].tolist() == ["helper"]


def test_fix_agent_asks_under_its_own_name(run, other_llm, store):
    other_llm.says(calls=[ask(1)]).says("I could not mend it.")
    run({"task": "check", "run": "false", "fix": "helper"})
    assert stepsnb.questions(store=store)["agent"].tolist() == ["helper"]


def test_hook_asks_under_its_own_name(run, other_llm, store):
    other_llm.says(calls=[ask(1)]).says("Told.")
    run({"task": "check", "run": "false", "on_failure": {"agent": "helper", "prompt": "Ask what to do."}})
    assert stepsnb.questions(store=store)["agent"].tolist() == ["helper"]


@pytest.fixture
def escalate(scripted_llm, other_llm, store):
    """Run an agent whose question `helper` answers first, if it can; `person` answers after it."""

    def escalate(*, grant=None, helper=None, answers=None, person=None):
        class Person:
            async def ask(self, question):
                return None if person is None else Answer(person, "prompt")

        ask_user = {"builtin": "ask_user", "answered_by": "helper", **(grant or {})}
        agents = [
            {"name": "lead", "source": {"model": scripted_llm.model}, "tools": [ask_user]},
            {"name": "helper", "source": {"model": other_llm.model}, "system": "You know ports.", **(helper or {})},
        ]
        text = {"agents": agents, "jobs": [{"name": "job", "plan": [{"agent": "lead", "prompt": "Ask."}]}]}
        scripted_llm.says(calls=[("ask_user", {"question": "Which port?", "options": ["Bergen", "Oslo"]})]).says(
            "Noted."
        )
        return stepsnb.load(json.dumps(text)).run(store=store, answers=answers, asker=Person())

    return escalate


def question_of(store):
    (row,) = stepsnb.questions(store=store)[["agent", "answer", "source", "answered_by"]].values.tolist()
    return row


def test_agent_answers_with_its_own_model_and_persona(escalate, other_llm, store):
    other_llm.says("Oslo")
    run = escalate(person="Bergen")
    assert run.outcome == "succeeded", run.error
    assert question_of(store) == ["lead", "Oslo", "agent", "helper"]
    system, asked = other_llm.requests[0]["messages"]
    assert system["content"].startswith("You know ports.")
    assert asked["content"] == "Which port?\n\nSome possible answers:\n- Bergen\n- Oslo"
    rows = stepsnb.steps(run.run_id, store=store)
    assert rows[rows["name"] == "helper"]["kind"].tolist() == ["sub_agent"]
    assert "Oslo" in run._repr_html_()


def test_answer_in_advance_comes_before_the_agent(escalate, other_llm, store):
    escalate(answers={"port": "Bergen"})
    assert (question_of(store)[1:3], other_llm.request_count) == (["Bergen", "given"], 0)


def test_agent_that_fails_hands_on(escalate, other_llm, store):
    other_llm.says(error=(400, "no"))
    assert escalate(person="Bergen").outcome == "succeeded"
    assert question_of(store)[1:3] == ["Bergen", "prompt"]


def test_agent_that_says_nothing_hands_on(escalate, other_llm, store):
    for _ in range(3):
        other_llm.says("")
    escalate(person="Bergen")
    assert question_of(store)[1:3] == ["Bergen", "prompt"]


def test_agent_that_answers_what_was_not_offered_hands_on(escalate, other_llm, store):
    other_llm.says("Somewhere in the north, I think.")
    escalate(grant={"options_required": True}, person="Bergen")
    assert question_of(store)[1:3] == ["Bergen", "prompt"]


def test_agent_that_fails_where_nobody_is_leads_to_the_default(escalate, other_llm, store):
    other_llm.says(error=(400, "no"))
    escalate(grant={"default": "Oslo"})
    assert question_of(store)[1:3] == ["Oslo", "default"]


def test_agent_that_would_have_to_ask_itself_is_an_error(scripted_llm):
    asks = {"builtin": "ask_user", "answered_by": "two"}
    agents = [
        {"name": "one", "source": {"model": "openai/o"}, "tools": [asks]},
        {"name": "two", "source": {"model": "openai/o"}, "tools": [{**asks, "answered_by": "one"}]},
        {"name": "three", "source": {"model": "openai/o"}, "tools": [{**asks, "answered_by": "fuor"}]},
    ]
    text = {"agents": agents, "jobs": [{"name": "job", "plan": [{"agent": "one", "prompt": "x"}]}]}
    with pytest.raises(ConfigError) as caught:
        stepsnb.load(json.dumps(text))
    assert "the agents call each other in a circle: one -> two -> one" in str(caught.value)
    assert "unknown agent `fuor`" in str(caught.value)

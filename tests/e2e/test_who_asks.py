"""How often a step may ask, and under whose name a question stands: the agent's that asked."""

import json

import pytest

import stepsnb
from stepsnb.llm import register_script, unregister_script
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

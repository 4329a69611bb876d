"""How many turns and how much time a step has, and what it may owe, ask and call."""

import json

import pytest

import stepsnb
from stepsnb.agent import AgentDeps, ToolRunner, run_agent
from stepsnb.errors import ConfigError
from stepsnb.llm import Reply
from stepsnb.messages import system
from stepsnb.people import Answer
from stepsnb.tools import ToolContext
from stepsnb.workspace import Root


def reads(llm, times):
    for line in range(1, times + 1):
        llm.says(calls=[("read_file", {"path": "data/a.txt", "end_line": line})])


def test_thirty_turns_then_one_request_without_tools(run, scripted_llm):
    reads(scripted_llm, 30)
    scripted_llm.says("what I have")
    assert run(prepare="yes | head -n 40 > data/a.txt").text == "what I have"
    assert [("tools" in request) for request in scripted_llm.requests] == [True] * 30 + [False]


def test_zero_turns_means_no_cap(run, scripted_llm):
    reads(scripted_llm, 33)
    scripted_llm.says("done")
    assert run(agent={"max_turns": 0}, prepare="yes | head -n 40 > data/a.txt").text == "done"
    assert all("tools" in request for request in scripted_llm.requests)


def told(request):
    return request["messages"][0]["content"]


def test_step_has_thirty_minutes_and_is_told_so_once_as_a_duration(run, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})]).says("done")
    run()
    assert told(scripted_llm.requests[0]).endswith("You have 30 minutes for all of it.")
    assert json.dumps(scripted_llm.requests[1]).count("30 minutes") == 1


def test_timeout_of_zero_is_none(run, scripted_llm):
    scripted_llm.says("done")
    run(step={"timeout": "0"})
    assert "You have" not in told(scripted_llm.requests[0])


@pytest.mark.parametrize(("left_s", "nudges"), [(200.0, 0), (199.0, 1)])
async def test_model_is_told_once_below_a_fifth_of_its_time(tmp_path, left_s, nudges):
    events, replies = [], [Reply(text="one"), Reply(text="two")]

    class Model:
        async def complete(self, history, choice=None, listener=None):
            return replies.pop(0)

    async def settled():
        """Everything is on the disk."""

    runner = ToolRunner([], context=ToolContext(root=Root(tmp_path)), emit=events.append, settle=settled)
    deps = AgentDeps(Model(), "m", ["a", "b"], runner, events.append, deadline=lambda: (left_s, 1_000.0))
    await run_agent(deps, [system("You are brief.")])
    assert len([event for event in events if event.kind == "nudge"]) == nudges


# -- what a step owes


def test_five_nudges_and_then_the_step_fails(run, scripted_llm):
    for _ in range(7):
        scripted_llm.says("All done!")
    result = run(
        agent={"tools": ["write_file"]},
        step={"outputs": ["report"], "assert": {"files": ["report/a.md"], "nudge": True}},
    )
    assert (result.outcome, scripted_llm.request_count) == ("failed", 6)
    assert len([event for event in result.events if event.kind == "nudge"]) == 5


def test_five_forced_calls_are_ignored_and_then_the_step_fails(run, scripted_llm):
    for _ in range(9):
        scripted_llm.says("no")
    result = run(step={"verdicts": ["approve", "revise"]})
    assert (result.outcome, scripted_llm.request_count) == ("failed", 1 + 5)


# -- questions


def test_three_questions_a_step_and_the_fourth_is_refused_as_data(run, scripted_llm, ends):
    for number in range(5):
        scripted_llm.says(calls=[("ask_user", {"question": f"Question {number}?"})])
    scripted_llm.says("done")
    result = run(agent={"tools": ["ask_user"]}, answers={"question": "yes"})
    assert [json.loads(end.result)["answered"] for end in ends(result)] == [True, True, True, False, False]


def test_person_is_waited_on_for_five_minutes(run, scripted_llm):
    class Person:
        async def ask(self, question):
            self.waits_s = question.timeout_s
            return Answer("8443", "widget")

    person = Person()
    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})]).says("done")
    run(agent={"tools": ["ask_user"]}, asker=person)
    assert person.waits_s == 300


# -- delegation


def chain(levels):
    """A pipeline in which an agent reaches another one through so many levels of calls."""
    agents = [{"name": f"a{n}", "source": {"model": "local/smollm2"}} for n in range(levels + 1)]
    for n in range(levels):
        agents[n]["tools"] = [{"agent": f"a{n + 1}"}]
    return json.dumps({"agents": agents, "jobs": [{"name": "j", "plan": [{"agent": "a0", "prompt": "Go."}]}]})


def test_eight_levels_of_sub_agents_load_and_nine_do_not():
    stepsnb.load(chain(8))
    with pytest.raises(ConfigError, match="sub-agents nested 9 deep, at most 8"):
        stepsnb.load(chain(9))


# -- names


def test_name_of_a_model_has_at_most_two_hundred_characters():
    text = '{"agents": [{"name": "a", "source": {"model": "openai/%s"}}], "jobs": [{"name": "j", "plan": [%s]}]}'
    step = '{"agent": "a", "prompt": "Go."}'
    stepsnb.load(text % ("m" * 193, step))
    with pytest.raises(ConfigError, match="has 201 characters; a model's name has at most 200"):
        stepsnb.load(text % ("m" * 194, step))

"""What a step is given besides its messages: files, decisions of other steps, and the dials of its requests."""

import json

import pytest

import stepsnb
from stepsnb.errors import ConfigError
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel


def opened(request):
    """The messages behind the first one of the user."""
    return request["messages"][2:]


# -- files


def test_context_files_come_in_their_order_as_one_reply_before_the_first(run, scripted_llm):
    scripted_llm.says("done")
    run(prepare="printf one > data/a.md; printf two > data/b.md", step={"context_paths": ["data/b.md", "data/a.md"]})
    call, *results = opened(scripted_llm.requests[0])
    assert [made["function"]["name"] for made in call["tool_calls"]] == ["read_file", "read_file"]
    assert [result["content"] for result in results] == ["two", "one"]
    assert [result["tool_call_id"] for result in results] == [made["id"] for made in call["tool_calls"]]


@pytest.mark.parametrize("path", ["/etc/hostname", "data/../secret.md", "other/a.md", "data"])
def test_context_path_that_leads_out_of_the_inputs_is_refused_at_load(run, path):
    with pytest.raises(ConfigError, match=r"`context_paths\[0\]`"):
        run(step={"context_paths": [path]})


@pytest.mark.parametrize("link", ["/etc/hostname", "../../../../etc/hostname"])
def test_context_file_that_is_a_link_out_is_never_sent(run, scripted_llm, link):
    scripted_llm.says("never")
    result = run(prepare=f"ln -s {link} data/a.md", step={"context_paths": ["data/a.md"]})
    assert (result.outcome.is_good, scripted_llm.request_count) == (False, 0)


@pytest.mark.parametrize("where", ["agent", "step"])
def test_context_files_need_the_tool_that_reads_files(run, where):
    options = {"agent": {"tools": ["list_dir", "read_file"]}, "step": {"context_paths": ["data/a.md"]}}
    options[where]["tools"] = ["list_dir"]
    with pytest.raises(ConfigError, match="`context_paths:` needs the tool `read_file`"):
        run(**options)


@pytest.fixture
def helper_llm():
    """The model of an agent that another one calls."""
    model = ScriptedModel("helper-of-rows")
    register_script("helper-of-rows", model.script)
    yield model
    unregister_script("helper-of-rows")


def test_context_files_are_not_handed_down_to_sub_agents(scripted_llm, helper_llm):
    helper_llm.says("An outage.")
    scripted_llm.says(calls=[("helper", {"request": "Condense."})]).says("done")
    agents = [
        {"name": "helper", "source": {"model": helper_llm.model}},
        {"name": "lead", "source": {"model": scripted_llm.model}, "tools": ["read_file", {"agent": "helper"}]},
    ]
    plan = [
        {"task": "prepare", "outputs": ["data"], "run": "printf secret > data/a.md"},
        {"agent": "lead", "prompt": "Go.", "inputs": ["data"], "context_paths": ["data/a.md"]},
    ]
    stepsnb.load(json.dumps({"agents": agents, "jobs": [{"name": "j", "plan": plan}]})).run(memory=True)
    assert "secret" in json.dumps(scripted_llm.requests[0])
    assert [message["content"] for message in helper_llm.requests[0]["messages"][1:]] == ["Condense."]


# -- decisions


@pytest.mark.parametrize(
    ("how_much", "told"),
    [("verdict", "revise"), ("note", "revise\n\nline 7 is wrong"), ("full", "revise\n\nline 7 is wrong\n\nI read it.")],
)
def test_decision_reaches_an_agent_as_read_step_and_a_task_as_a_file(scripted_llm, how_much, told):
    scripted_llm.says(calls=[("verdict", {"verdict": "revise", "note": "line 7 is wrong"})]).says("I read it.")
    scripted_llm.says("done")
    agents = [{"name": name, "source": {"model": scripted_llm.model}} for name in ("judge", "editor")]
    context = {"from": {"judge": how_much}}
    plan = [
        {"agent": "judge", "prompt": "Review.", "verdicts": ["approve", "revise"]},
        {"agent": "editor", "prompt": "Apply it.", "context": context},
        {"task": "gate", "run": "cat upstream/judge", "context": context},
    ]
    result = stepsnb.load(json.dumps({"agents": agents, "jobs": [{"name": "j", "plan": plan}]})).run(memory=True)
    call, read = opened(scripted_llm.requests[-1])
    assert call["tool_calls"][0]["function"] == {"name": "read_step", "arguments": '{"step":"judge"}'}
    assert read["content"].endswith(f"<step_result>\n{told}\n</step_result>")
    assert result.steps[-1].text == f"{told}\n"


# -- dials


DIALS = ("temperature", "top_p", "max_tokens", "reasoning_effort")


def test_dials_that_are_not_set_are_not_sent(run, scripted_llm):
    scripted_llm.says("done")
    run()
    assert [key for key in scripted_llm.requests[0] if key.startswith(DIALS) or "max" in key] == []


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_dials_that_are_set_are_sent_as_they_are(run, scripted_llm, effort):
    dials = {"temperature": 0, "top_p": 0.5, "max_tokens": 700, "reasoning_effort": effort}
    scripted_llm.says("done")
    run(agent=dials)
    assert {key: scripted_llm.requests[0].get(key) for key in DIALS} == dials


def test_other_reasoning_effort_is_an_error(run):
    with pytest.raises(ConfigError, match="unknown reasoning effort `ultra`"):
        run(agent={"reasoning_effort": "ultra"})


def test_default_model_serves_only_agents_without_one(scripted_llm, helper_llm):
    scripted_llm.says("mine")
    helper_llm.says("the default's")
    agents = [{"name": "own", "source": {"model": scripted_llm.model}}, {"name": "bare"}]
    plan = [{"agent": "own", "prompt": "Go."}, {"agent": "bare", "prompt": "Go."}]
    text = {"defaults": {"model": helper_llm.model}, "agents": agents, "jobs": [{"name": "j", "plan": plan}]}
    result = stepsnb.load(json.dumps(text)).run(memory=True)
    assert [step.text for step in result.steps] == ["mine", "the default's"]

"""One mistake is one problem, and hides no other."""

from decimal import Decimal

import pytest

from stepsnb.config import Agent, AgentStep, BuiltinGrant, PriceEntry, Source, StepAssert, TaskStep, load_text

AGENTS = "agents:\n- name: writer\n  source: {model: local/smollm2}\n"


def places(lines):
    return [line.partition(": ")[0] for line in lines]


def test_step_with_an_error_still_makes_its_outputs(problems):
    text = """jobs:
- name: build
  plan:
  - task: make
    run: echo hi
    outputs: [a, b, ../c]
  - {pit: site, steps: [{task: x, outputs: [d]}, {get: e}]}
  - task: read
    run: cat a/x
    inputs: [a, d, e]
  - {task: x, run: echo, outputs: f}
  - {task: y, run: echo, inputs: [f]}
"""
    assert places(problems(text)) == ["6:21", "7:5", "11:35"]


def test_agent_that_cannot_be_built_is_still_known(problems):
    plan = "[{agent: writer, prompt: Go., tools: [run_shell]}]"
    text = f"agents:\n- {{name: writer, source: [x], tools: 3}}\njobs:\n- name: j\n  plan: {plan}\n"

    assert places(problems(text)) == ["2:26", "2:38"]


def test_misspelled_key_is_not_missing_as_well(problems):
    text = AGENTS + "jobs:\n- name: j\n  plan:\n  - {task: t, rnu: echo}\n  - {agent: writer, promt: Go.}\n"

    assert places(problems(text)) == ["7:15", "8:21"]


def test_misspelled_model_is_not_missing_as_well(problems):
    text = "agents: [{name: a, source: {modle: x/y}}]\njobs: [{name: j, plan: [{agent: a, prompt: Go.}]}]\n"

    assert places(problems(text)) == ["1:29"]


def test_error_in_a_job_leaves_the_asserts_on_jobs_alone(problems):
    text = "jobs:\n- name: j\n  plan: []\n- plan: [{task: t, run: echo}]\nassert: {execution: [j, k]}\n"

    assert places(problems(text)) == ["3:9", "4:3"]


@pytest.mark.parametrize("section", ["agents", "resources", "jobs", "defaults", "prices", "assert"])
def test_section_of_the_wrong_shape_is_one_problem(problems, section):
    text = {"jobs": ""}.get(section, "jobs: [{name: j, plan: [{task: t, run: echo}]}]\n") + f"{section}: text\n"
    [line] = problems(text)

    assert f"`{section}: text` must be a " in line


def test_entries_of_the_wrong_shape_are_named_by_number(problems):
    text = "agents: [a]\nresources: [[]]\njobs: [3]\n"

    assert problems(text) == [
        "1:10: agent 1: must be a mapping, not text; write `key: value` lines",
        "2:13: resource 1: must be a mapping, not a list; write `key: value` lines",
        "3:8: job 1: must be a mapping, not text; write `key: value` lines",
    ]


def test_default_model_serves_agents_without_one():
    text = "defaults: {model: local/smollm2}\nagents: [{name: a}]\njobs: [{name: j, plan: [{agent: a, prompt: Go.}]}]\n"

    assert load_text(text).agents[0].source.model is None
    assert load_text(text).defaults.model == "local/smollm2"


def test_agent_step_folds_its_prompt_into_one_message(load_agent):
    assert load_agent(step="prompt: Go.")[1].messages == ("Go.",)


def test_error_in_a_field_before_the_messages_is_one_problem(problems):
    text = AGENTS + "jobs:\n- name: j\n  plan:\n  - {agent: writer, prompt: [], attempts: 0}\n"

    assert places(problems(text)) == ["7:29", "7:43"]


def test_unknown_keys_are_known_errors_of_their_place(problems):
    [line] = problems(AGENTS + "jobs: [{name: j, plan: [{agent: writer, prompt: a, assert: {stdot: b}}]}]")

    assert "unknown `assert:` key `stdot` (did you mean `stdout`?)" in line


def test_handed_in_files_may_be_an_input(load_task):
    assert load_task("inputs: [files]").inputs == ("files",)


def test_models_built_in_code_need_no_yaml():
    agent = Agent(
        name="a",
        source=Source(model="local/smollm2"),
        timeout_s=3.0,
        temperature=0.5,
        preflight=False,
        tools=(BuiltinGrant(builtin="read_file"),),
    )
    step = AgentStep(agent="a", messages=("Go.",), assert_=StepAssert(stdout="x"), attempts=1)
    task = TaskStep(task="t", run="echo", env={"A": "b"}, timeout_s=0.0)

    price = PriceEntry(input=Decimal("0.2"), output=Decimal(8))

    assert (agent.timeout_s, agent.tool_names) == (3.0, ("read_file",))
    assert (step.messages, task.env, price.input) == (("Go.",), {"A": "b"}, Decimal("0.2"))
    assert str(task.where) == "<code>:1:1"


def test_model_built_in_code_refuses_other_types():
    with pytest.raises(ValueError, match="valid string"):
        Source(endpoint=3)

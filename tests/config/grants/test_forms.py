"""Tools an agent grants and a step selects."""

import jsonschema
import pytest
import yaml

from stepsnb.config import DEFAULT_TOOLS, AgentGrant, BuiltinGrant, CustomGrant, PythonGrant, schema

HELPER = "- {name: team/helper, source: {model: local/smollm2}}\n"


def test_agent_without_tools_has_the_three_that_change_nothing(load_agent):
    agent, step = load_agent()

    assert agent.tools is None
    assert agent.tool_names == DEFAULT_TOOLS == ("read_file", "list_dir", "search_files")
    assert step.tools is None


def test_empty_grant_grants_nothing(load_agent):
    assert load_agent("tools: []")[0].tool_names == ()


def test_grants_are_built_in_tools_and_functions(load_agent):
    agent, _ = load_agent(
        "tools:\n- read_file\n- {builtin: ask_user, required: true, default: '', timeout: 5m, options_required: true}\n"
        "- {python: greet, required: true}\n- python: package.module:shout\n"
    )

    assert agent.tools == (
        BuiltinGrant(builtin="read_file"),
        BuiltinGrant(builtin="ask_user", required=True, default="", timeout_s=300.0, options_required=True),
        PythonGrant(python="greet", required=True),
        PythonGrant(python="package.module:shout"),
    )
    assert agent.tool_names == ("read_file", "ask_user", "greet", "shout")


def test_step_selects_a_function_by_its_name(load_agent):
    _, step = load_agent("tools: [{python: 'm:greet'}, read_file]", "prompt: Go.\ntools: [greet]")

    assert step.tools == ("greet",)


def test_error_in_a_selection_is_not_repeated_where_it_is_used(problems):
    text = """agents: [{name: writer, source: {model: local/smollm2}, tools: [read_file]}]
jobs:
- name: build
  plan:
  - agent: writer
    prompt: Go.
    tools: [""]
    assert: {tool_calls: [{name: write_file}]}
"""
    assert [line.partition(": ")[0] for line in problems(text)] == ["7:13"]


def test_error_in_a_grant_is_not_repeated_where_the_grant_is_used(problems):
    text = """agents:
- name: writer
  source: {model: local/smollm2}
  tools: [{python: "1x"}, run_shell]
jobs:
- name: build
  plan:
  - agent: writer
    prompt: Go.
    tools: [run_shell]
"""
    assert [line.partition(": ")[0] for line in problems(text)] == ["4:20"]


def test_every_form_takes_a_deadline_for_one_call(load_agent):
    agent, _ = load_agent(
        "tools:\n- {builtin: read_file, timeout: 2s}\n- {python: greet, timeout: 3s}\n"
        "- {name: hi, description: Says hi., run: echo hi, timeout: 4s}\n- {agent: team/helper, timeout: 5s}\n"
        "- {builtin: run_shell, timeout: '0'}\n- edit_file",
        others=HELPER,
    )

    assert [grant.timeout_s for grant in agent.tools] == [2.0, 3.0, 4.0, 5.0, 0.0, None]


def test_function_may_be_limited_named_and_described(load_agent):
    agent, _ = load_agent(
        "tools: [{python: 'm:shout', name: say-it, description: Says it., required: true, max_calls: 2, "
        "args: {version: 3.10}, max_output_bytes: 10000000, retry: {max_attempts: 2}}]"
    )
    [grant] = agent.tools

    assert (grant.name, grant.description, grant.required, grant.max_calls) == ("say-it", "Says it.", True, 2)
    assert (grant.args, grant.max_output_bytes, grant.retry.max_attempts) == ({"version": "3.10"}, 10_000_000, 2)


def test_custom_tool_takes_from_the_model_what_is_not_pinned(load_agent):
    run = "post {{ .args.repo | shellquote }} {{ .args.body }} {{ .args.body | upper }} .args.outside"
    agent, _ = load_agent(f"tools: [{{name: post, description: Posts., run: '{run}', args: {{repo: a/b}}}}]")
    [grant] = agent.tools

    assert isinstance(grant, CustomGrant)
    assert (grant.name, grant.args, grant.parameters) == ("post", {"repo": "a/b"}, ("body",))


def test_custom_tool_may_pin_every_argument(load_agent):
    agent, _ = load_agent("tools: [{name: post, description: Posts., run: 'echo {{ .args.a }}', args: {a: b}}]")

    assert agent.tools[0].parameters == ()


def test_sub_agent_is_called_by_a_name_that_functions_may_have(load_agent):
    agent, step = load_agent(
        "tools: [{agent: team/helper, description: Helps.}]",
        "prompt: Go.\ntools: [{agent: team/helper}]",
        others=HELPER,
    )

    assert agent.tools == (AgentGrant(agent="team/helper", description="Helps."),)
    assert agent.tool_names == step.tools == ("team_helper",)


def test_step_selects_by_mapping_what_it_could_select_by_name(load_agent):
    _, step = load_agent(
        "tools: [{python: 'm:greet'}, {builtin: read_file, timeout: 2s}]",
        "prompt: Go.\ntools: [{python: greet}, {builtin: read_file}]",
    )

    assert step.tools == step.tool_names == ("greet", "read_file")


def test_step_brings_a_tool_of_its_own_with_its_limits(load_agent):
    _, step = load_agent(
        "tools: [read_file]",
        "prompt: Go.\ntools: [read_file, {name: check, description: Checks., run: make check, timeout: 5m}]\n"
        "assert: {tool_calls: [{name: check}]}",
    )

    assert step.tool_names == ("read_file", "check")
    assert (step.tools[1].run, step.tools[1].timeout_s) == ("make check", 300.0)


def test_step_without_tools_names_none(load_agent):
    assert load_agent()[1].tool_names == ()


def test_arguments_the_model_gives_may_be_asserted_beside_pins(load_agent):
    _, step = load_agent(
        "tools: [{name: post, description: Posts., run: '{{ .args.a }} {{ .args.b }}', args: {a: x}}]",
        "prompt: Go.\nassert: {tool_calls: [{name: post, args: {b: y}}]}",
    )

    assert step.assert_.tool_calls[0].args == {"b": "y"}


@pytest.mark.parametrize(
    "tools",
    [
        "[read_file, {builtin: run_shell}, {python: f}, {agent: a}]",
        "[{name: t, description: d, run: r, timeout: 5m, args: {a: b}, retry: {max_attempts: 2}}]",
    ],
)
def test_schema_accepts_every_form_in_a_step(tools):
    text = f"jobs: [{{name: j, plan: [{{agent: a, prompt: p, tools: {tools}}}]}}]"

    jsonschema.validate(yaml.safe_load(text), schema())


def test_schema_refuses_settings_of_a_selected_tool():
    text = "jobs: [{name: j, plan: [{agent: a, prompt: p, tools: [{builtin: run_shell, timeout: 10m}]}]}]"

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), schema())

"""Tools an agent grants and a step selects."""

from stepsnb.config import DEFAULT_TOOLS, BuiltinGrant, PythonGrant


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

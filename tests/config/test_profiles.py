"""The agents that come with stepsnb: what each is, and what an entry of its name changes."""

import pytest

import stepsnb
from stepsnb.config import load_text

STEP = "jobs:\n- name: work\n  plan: [{agent: '@builtin/ROLE', prompt: Go.}]\n"
DEFAULTS = "defaults: {model: openai/gpt-5.4}\n"


def load(role, agents="", defaults=DEFAULTS):
    return load_text(f"{defaults}{agents}{STEP.replace('ROLE', role)}")


@pytest.mark.parametrize(
    ("role", "turns", "context_bytes", "timeout_s"),
    [
        ("explorer", 15, None, 600),
        ("planner", 25, 400_000, None),
        ("reviewer", 30, 400_000, None),
        ("builder", 50, 400_000, 3600),
    ],
)
def test_profile_has_the_dials_of_its_role(role, turns, context_bytes, timeout_s):
    agent = load(role).agent(f"@builtin/{role}")
    assert (agent.max_turns, agent.max_context_bytes, agent.timeout_s) == (turns, context_bytes, timeout_s)
    assert agent.system
    assert agent.source.model is None


@pytest.mark.parametrize("role", ["explorer", "planner", "reviewer"])
def test_roles_that_read_change_nothing(role):
    assert load(role).agent(f"@builtin/{role}").tool_names == ("read_file", "list_dir", "search_files")


def test_builder_may_write_and_run():
    assert {"write_file", "edit_file", "run_shell"} < set(load("builder").agent("@builtin/builder").tool_names)


def test_entry_changes_what_it_says_and_keeps_the_rest():
    own = load("planner").agent("@builtin/planner")
    entry = "agents:\n- {name: '@builtin/planner', source: {model: openai/o9}, tools: [read_file], max_turns: 7}\n"
    agent = load("planner", entry, defaults="").agent("@builtin/planner")
    assert (agent.source.model, agent.tool_names, agent.max_turns) == ("openai/o9", ("read_file",), 7)
    assert (agent.system, agent.max_context_bytes) == (own.system, own.max_context_bytes)


def test_document_of_an_entry_comes_before_the_profile(tmp_path):
    (tmp_path / "mine.yml").write_text("system: You are brief.\nmax_turns: 9\n")
    text = f"{DEFAULTS}agents: [{{name: '@builtin/planner', file: mine.yml, max_turns: 8}}]\n" + STEP.replace(
        "ROLE", "planner"
    )
    agent = load_text(text, base_dir=tmp_path).agent("@builtin/planner")
    assert (agent.system, agent.max_turns, agent.max_context_bytes) == ("You are brief.", 8, 400_000)


def test_agents_of_a_pipeline_are_those_it_lists():
    assert load("planner").agents == ()


@pytest.mark.parametrize("setting", ["max_turns: 26", "max_context_bytes: 1", "system: Plan.", "tools: [read_file]"])
def test_what_an_entry_changes_is_part_of_what_the_step_is(setting, tmp_path):
    def step_hash(agents):
        plan = stepsnb.load(f"{DEFAULTS}{agents}{STEP.replace('ROLE', 'planner')}").plan(store=tmp_path / "store")
        return plan["hash"][0]

    same = step_hash("agents: [{name: '@builtin/planner', timeout: 3m}]\n")
    assert step_hash("") == same
    assert step_hash(f"agents: [{{name: '@builtin/planner', {setting}}}]\n") != same

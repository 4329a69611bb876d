"""Each part of a step's identity is in its hash, and each setting that is none is not."""

import pytest

from stepsnb.config import load_file, load_text
from stepsnb.plan import build_plan

from .pipelines import AGENTS, changed, node_of, plan_of

MAKE = {"task": "make", "run": "make", "outputs": ["repo", "other"]}
TASK = {
    "task": "build",
    "run": "echo build",
    "inputs": ["repo"],
    "outputs": ["out"],
    "env": {"LANG": "C"},
    "image": "debian",
    "input_mapping": {"repo": "repo"},
    "assert": {"stdout": "done"},
}
AGENT = {
    "agent": "writer",
    "messages": ["Write.", "Check."],
    "inputs": ["repo"],
    "outputs": ["out"],
    "dir": "repo",
    "context_paths": ["repo/a.md"],
}


def hash_of(step, agents=AGENTS, **more):
    return plan_of(MAKE, step, agents=agents, **more).nodes[1].hash


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("task", "another"),
        ("run", "echo else"),
        ("inputs", []),
        ("outputs", ["out", "more"]),
        ("env", {"LANG": "en"}),
        ("env", {}),
        ("image", "alpine"),
        ("network", "none"),
        ("input_mapping", {"repo": "other"}),
        ("output_mapping", {"out": "built"}),
        ("assert", {"stdout": "well done"}),
        ("when", "test -f x"),
        ("to", {"failure": "next"}),
        ("fix", "fixer"),
        ("ensure", {"task": "clean", "run": "rm"}),
        ("on_failure", {"task": "tell", "run": "mail"}),
    ],
)
def test_what_a_task_does_is_part_of_it(path, new):
    step = changed(TASK, path, new)
    if path == "inputs":
        del step["input_mapping"]

    assert hash_of(step) != hash_of(TASK)


@pytest.mark.parametrize(("path", "new"), [("attempts", 3), ("timeout", "5m"), ("volatile", True)])
def test_what_bounds_or_repeats_a_task_is_no_part_of_it(path, new):
    assert hash_of(changed(TASK, path, new)) == hash_of(TASK)


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("agent", "helper"),
        ("messages.0", "Write well."),
        ("messages", ["Write."]),
        ("messages", ["Check.", "Write."]),
        ("inputs", ["repo", "other"]),
        ("outputs", ["out", "more"]),
        ("dir", "out"),
        ("context_paths", ["repo/b.md"]),
        ("max_turns", 5),
        ("max_context_bytes", 5),
        ("tools", ["read_file"]),
        ("tools", ["count", "read_file"]),
        ("verdicts", ["yes", "no"]),
        ("output", {"type": "object"}),
        ("env", {"A": "b"}),
        ("on_success", {"task": "tell", "run": "mail"}),
    ],
)
def test_what_an_agent_step_says_is_part_of_it(path, new):
    step = changed(AGENT, path, new)

    assert hash_of(step) != hash_of(AGENT)


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("0.source.model", "openrouter/other/model"),
        ("0.source.endpoint", "http://127.0.0.1:1/v1"),
        ("0.system", "You write well."),
        ("0.temperature", 0.6),
        ("0.top_p", 0.5),
        ("0.max_tokens", 100),
        ("0.reasoning_effort", "high"),
        ("0.max_turns", 10),
        ("0.max_context_bytes", 7),
        ("0.tools", ["read_file"]),
        ("0.image", "debian"),
        ("0.env", {"A": "b"}),
        ("0.tools.1", {"builtin": "ask_user", "options_required": True}),
        ("0.tools.2.run", "wc -l {{ .args.file }}"),
        ("0.tools.2.description", "Counts words."),
        ("0.tools.2.required", True),
        ("0.tools.2.max_calls", 2),
        ("0.tools.2.args", {"file": "a"}),
        ("0.tools.2.max_output_bytes", 5_000),
        ("0.tools.3", {"agent": "helper", "description": "Asks."}),
        ("1.system", "You help a lot."),
        ("1.source.model", "openrouter/large/model"),
        ("1.description", "Helps more."),
    ],
)
def test_what_the_agent_is_is_part_of_its_steps(path, new):
    assert hash_of(AGENT, changed(AGENTS, path, new)) != hash_of(AGENT)


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("0.description", "Writes much."),
        ("0.attempts", 7),
        ("0.timeout", "1m"),
        ("0.retry", {"default": {"max_attempts": 2}}),
        ("0.preflight", False),
        ("0.compact_after_tokens", 1_000),
        ("0.context_window", 9_000),
        ("0.max_questions", 9),
        ("0.source.tool_mode", "json"),
        ("0.source.stream", False),
        ("0.source.api_key_env", "OTHER_KEY"),
        ("0.tools.1.default", "no"),
        ("0.tools.1.timeout", "1m"),
        ("0.tools.2.timeout", "1m"),
        ("0.tools.2.retry", {"max_attempts": 2}),
    ],
)
def test_what_bounds_an_agent_is_no_part_of_its_steps(path, new):
    assert hash_of(AGENT, changed(AGENTS, path, new)) == hash_of(AGENT)


@pytest.mark.parametrize(("key", "new"), [("attempts", 5), ("timeout", "1m"), ("max_questions", 2), ("volatile", True)])
def test_what_bounds_an_agent_step_is_no_part_of_it(key, new):
    assert hash_of({**AGENT, key: new}) == hash_of(AGENT)


def test_a_message_in_an_artifact_is_part_of_its_step_by_its_place():
    step = {"agent": "writer", "inputs": ["repo"], "outputs": ["out"]}
    hashes = {
        hash_of({**step, "message_files": [{"artifact": "repo", "path": path}]}) for path in ("ask.md", "other.md")
    }

    assert len(hashes) == 2


INCLUDES = """
agents:
- {name: writer, source: {model: openrouter/one/model}, system_file: system.md}
jobs:
- name: job
  plan:
  - {task: test, run_file: test.sh}
  - {agent: writer, message_files: [ask.md]}
"""


def hashes_of_files(folder, **texts):
    for name, text in {"test": "make test", "system": "You write.", "ask": "Write.", **texts}.items():
        (folder / {"test": "test.sh"}.get(name, f"{name}.md")).write_text(text)
    (folder / "job.yml").write_text(INCLUDES)
    return [node.hash for node in build_plan(load_file(folder / "job.yml")).nodes]


@pytest.mark.parametrize(("name", "first"), [("test", 0), ("system", 1), ("ask", 1)])
def test_the_text_of_an_included_file_is_part_of_its_step(tmp_path, name, first):
    before = hashes_of_files(tmp_path)
    after = hashes_of_files(tmp_path, **{name: "something else"})

    assert before[:first] == after[:first]
    assert all(x != y for x, y in zip(before[first:], after[first:], strict=True))


def test_a_text_is_the_same_wherever_it_was_written(tmp_path):
    (tmp_path / "a.sh").write_text("make")
    (tmp_path / "b.sh").write_text("make")
    hashes = {
        build_plan(load_text(f"jobs: [{{name: job, plan: [{{task: t, {run}}}]}}]", base_dir=tmp_path)).nodes[0].hash
        for run in ("run: make", "run_file: a.sh", "run_file: b.sh")
    }

    assert len(hashes) == 1


def test_an_entry_of_tasks_is_the_step_it_stands_for():
    tasks = [{"name": "t", "run": "make", "env": {"A": "1"}}]

    assert node_of({"task": "t"}, tasks=tasks).hash == node_of({"task": "t", "run": "make", "env": {"A": "1"}}).hash


def test_an_agent_of_the_default_model_is_its_model():
    agents = changed(AGENTS, "0.source", {})
    default = {"defaults": {"model": "openrouter/one/model"}}

    assert hash_of(AGENT, agents, **default) == hash_of(AGENT)
    assert hash_of(AGENT, agents, defaults={"model": "openrouter/two/model"}) != hash_of(AGENT)


def test_the_short_form_of_one_message_is_the_same_step():
    step = {"agent": "helper", "outputs": ["out"]}

    assert node_of({**step, "prompt": "Go."}).hash == node_of({**step, "messages": ["Go."]}).hash


def test_a_step_that_selects_all_tools_is_the_step_that_takes_the_whole_grant():
    names = ["read_file", "ask_user", "count", "helper"]

    assert hash_of({**AGENT, "tools": names}).__len__() == 40
    assert node_of({"agent": "writer", "prompt": "Go."}).fingerprint.parts == (
        node_of({"agent": "writer", "prompt": "Go.", "tools": names}).fingerprint.parts
    )


def test_a_dial_of_the_step_counts_like_one_of_the_agent():
    agents = changed(AGENTS, "0.max_turns", 5)

    assert hash_of(AGENT, agents) == hash_of({**AGENT, "max_turns": 5})


@pytest.mark.parametrize("key", ["attempts", "timeout"])
def test_bounds_of_a_fix_are_no_part_of_its_task(key):
    step = {**TASK, "fix": {"agent": "fixer"}}
    bounded = {**TASK, "fix": {"agent": "fixer", key: {"attempts": 2, "timeout": "1m"}[key]}}

    assert hash_of(bounded) == hash_of(step)


@pytest.mark.parametrize(("key", "new"), [("agent", "other"), ("messages", ["Mend."]), ("dir", "repo"), ("tools", [])])
def test_who_repairs_a_task_and_how_is_part_of_it(key, new):
    agents = [*AGENTS, {**AGENTS[2], "name": "other"}]
    step = {**TASK, "fix": {"agent": "fixer"}}

    assert hash_of({**TASK, "fix": {"agent": "fixer", key: new}}, agents) != hash_of(step, agents)


def test_the_agent_of_a_fix_is_part_of_its_task():
    step = {**TASK, "fix": "fixer"}

    assert hash_of(step, changed(AGENTS, "2.system", "Mend.")) != hash_of(step)
    assert hash_of(step, changed(AGENTS, "2.timeout", "1m")) == hash_of(step)


def test_context_of_a_task_is_part_of_it():
    steps = [{"agent": "writer", "prompt": "Go.", "verdicts": ["yes", "no"]}, {"task": "read", "run": "cat upstream/*"}]
    hashes = {
        plan_of(steps[0], {**steps[1], "context": {"from": {"writer": mode}}}).nodes[1].hash
        for mode in ("verdict", "note", "full")
    }

    assert len(hashes | {plan_of(*steps).nodes[1].hash}) == 4


RESOURCES = [{"name": "repo", "type": "path", "source": {"path": "repo"}}]


def test_the_source_of_a_resource_is_part_of_its_get():
    other = [{"name": "repo", "type": "path", "source": {"path": "other"}}]
    ignoring = [{"name": "repo", "type": "path", "source": {"path": "repo", "ignore": ["*.log"]}}]
    hashes = {node_of({"get": "repo"}, resources=each).hash for each in (RESOURCES, other, ignoring)}

    assert len(hashes) == 3


def test_what_a_get_triggers_is_no_part_of_it():
    assert (
        node_of({"get": "repo", "trigger": True}, resources=RESOURCES).hash
        == node_of({"get": "repo"}, resources=RESOURCES).hash
    )


TYPES = [{"name": "repos", "defaults": {"a": "b"}, "config": {"check": "echo '[]'", "in": "true", "out": "true"}}]
OWN = [{"name": "site", "type": "repos", "source": {"url": "x"}}]


@pytest.mark.parametrize("program", ["check", "in", "out"])
def test_the_programs_of_a_resource_type_are_part_of_its_steps(program):
    types = changed(TYPES, f"0.config.{program}", "echo '[ ]'")
    before, after = (
        [node.hash for node in plan_of({"get": "site"}, {"put": "site"}, resource_types=each, resources=OWN).nodes]
        for each in (TYPES, types)
    )

    assert before[0] != after[0]
    assert before[1] != after[1]


def test_params_of_a_put_are_part_of_it():
    hashes = {
        node_of({"put": "site", "inputs": [], "params": params}, resource_types=TYPES, resources=OWN).hash
        for params in ({}, {"a": "1"}, {"a": "2"})
    }

    assert len(hashes) == 3


BRANCHES = [{"task": "a", "run": "a"}, {"task": "b", "run": "b"}]


@pytest.mark.parametrize(("key", "new"), [("limit", 1), ("fail_fast", True)])
def test_how_branches_share_the_machine_is_no_part_of_them(key, new):
    assert (
        node_of({"in_parallel": {"steps": BRANCHES}}).hash
        == node_of({"in_parallel": {"steps": BRANCHES, key: new}}).hash
    )


ENSEMBLE = {
    "verdicts": ["yes", "no"],
    "agents": [{"agent": "writer", "prompt": "Vote."}, {"agent": "helper", "prompt": "Vote."}],
}
JUDGE = [*AGENTS, {"name": "judge", "source": {"model": "openrouter/one/model"}}]


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("verdicts", ["no", "yes"]),
        ("verdicts", [{"yes": "next"}, "no"]),
        ("decide", "unanimous"),
        ("decide", "judge"),
        ("member_errors", "exclude"),
        ("agents.0.prompt", "Vote well."),
    ],
)
def test_how_an_ensemble_decides_is_part_of_it(path, new):
    other = changed(ENSEMBLE, path, new)

    assert node_of({"ensemble": other}, agents=JUDGE).hash != node_of({"ensemble": ENSEMBLE}, agents=JUDGE).hash


def test_the_judge_of_an_ensemble_is_part_of_it():
    judged = {"ensemble": {**ENSEMBLE, "decide": "judge"}}

    assert node_of(judged, agents=changed(JUDGE, "3.system", "Be strict.")).hash != node_of(judged, agents=JUDGE).hash


def test_the_message_of_an_approval_is_part_of_it_and_its_patience_is_not():
    ask = {"approval": {"message": "Go on?"}}

    assert node_of({"approval": {"message": "Stop?"}}).hash != node_of(ask).hash
    assert node_of({"approval": {"message": "Go on?", "timeout": "5m"}}).hash == node_of(ask).hash


def test_grant_of_a_server_is_part_of_identity_and_its_clocks_are_not():
    def identity(grant, command="docs-server"):
        text = f"""
mcp_servers: [{{name: docs, command: {command}}}]
agents: [{{name: writer, source: {{model: scripted/x}}, tools: [{grant}]}}]
jobs: [{{name: j, plan: [{{agent: writer, prompt: Write.}}]}}]
"""
        return build_plan(load_text(text)).nodes[0].hash

    one = identity("{mcp: docs, tool: find}")

    assert one == identity("{mcp: docs, tool: find, timeout: 5s, retry: {max_attempts: 2}}")
    assert len({one, identity("{mcp: docs}"), identity("{mcp: docs, tools: [find, open]}")}) == 3
    assert one != identity("{mcp: docs, tool: find, max_output_bytes: 500}")
    assert one != identity("{mcp: docs, tool: find}", command="other-server")

"""Loading from files, texts and cells of steps."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepsnb.config import GetStep, Where, load_file, load_steps, load_text
from stepsnb.errors import ConfigError

TASK = "jobs:\n- name: build\n  plan:\n  - {task: make, run: echo hi}\n"
WITH_AGENT = (
    "agents:\n- name: writer\n  source: {model: local/smollm2}\nresources:\n"
    "- {name: notes, type: path, source: {path: a}}\n" + TASK
)


def test_file_is_named_as_given_and_its_folder_is_where_paths_start(tmp_path):
    path = tmp_path / "build.yml"
    path.write_text(TASK, "utf-8")

    pipeline = load_file(path)

    assert (pipeline.file, pipeline.base_dir, pipeline.source_text) == (str(path), tmp_path, TASK)


def test_relative_file_has_an_absolute_folder(tmp_path, monkeypatch):
    (tmp_path / "build.yml").write_text(TASK, "utf-8")
    monkeypatch.chdir(tmp_path)

    pipeline = load_file("build.yml")

    assert (pipeline.file, pipeline.base_dir) == ("build.yml", Path.cwd())


def test_text_starts_paths_at_the_current_folder():
    pipeline = load_text(TASK)

    assert (pipeline.file, pipeline.base_dir) == ("<cell>", Path.cwd())


def test_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "build.yml").write_text(TASK, "utf-8-sig")

    assert load_file(tmp_path / "build.yml").source_text == TASK
    assert load_text("\ufeff" + TASK).job().name == "build"


def test_windows_line_ends_count_as_one_line(problems):
    assert problems("jobs:\r\n- name: build\r\n  pan: []\r\n")[0].startswith("3:3: job `build`: unknown key `pan`")


def test_step_knows_its_place():
    step = load_text(TASK, file="build.yml").job().plan[0]

    assert step.where == Where("build.yml", 4, 5)
    assert str(step.where) == "build.yml:4:5"


def test_steps_of_a_cell_use_the_agents_and_resources_of_the_pipeline():
    pipeline = load_text(WITH_AGENT)

    steps = load_steps("- get: notes\n- agent: writer\n  prompt: Go.\n  inputs: [notes]\n", pipeline=pipeline)

    assert [(step.kind, step.name, step.where.line) for step in steps] == [("get", "notes", 1), ("agent", "writer", 2)]


def test_steps_of_a_cell_may_take_artifacts_of_earlier_cells():
    [step] = load_steps("- {task: read, run: cat a/b, inputs: [a]}", pipeline=load_text(TASK))

    assert step.inputs == ("a",)


def test_steps_of_a_cell_have_variables():
    [step] = load_steps("- {task: say, run: ((what))}", pipeline=load_text(TASK), variables={"what": "echo hi"})

    assert step.run == "echo hi"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("- {agent: writr, prompt: Go.}", "c:1:11: job `build`, step 1 (agent `writr`): unknown agent `writr`"),
        ("- get: nots", "c:1:8: job `build`, step 1 (get `nots`): unknown resource `nots`"),
        ("- task: make", "c:1:3: job `build`, step 1 (task `make`): `run:` is missing"),
        ("[]", "c:1:1: this list has no steps; write at least one"),
        ("task: make", "c:1:1: this is a mapping, not a list of steps; begin each step with `- `"),
        ("hello", "c:1:1: this is text, not a list of steps; begin each step with `- `"),
        (TASK, "c:1:1: this is a pipeline, not a list of steps; begin each step with `- `"),
    ],
)
def test_cell_of_steps_says_what_is_wrong(text, error):
    with pytest.raises(ConfigError, match=re.escape(error)):
        load_steps(text, pipeline=load_text(WITH_AGENT), job="build", file="c")


def test_steps_without_a_job_are_numbered_alone():
    with pytest.raises(ConfigError, match=r"c:1:3: step 1: names no step kind"):
        load_steps("- run: echo", pipeline=load_text(TASK), file="c")


def test_handed_case_h11_names_both_lines(problems):
    text = """jobs:
- name: vote
  plan:
  - agent: judge
    prompt: first text
    verdicts: [yes, no]
    prompt: second text
"""
    duplicate = [line for line in problems(text) if "duplicate" in line]

    assert duplicate == [
        "7:5: job `vote`, step 1 (agent `judge`): duplicate key `prompt`, on lines 5 and 7; keep one of them"
    ]


def test_each_error_of_a_text_is_reported_once_and_in_order(problems):
    text = "jobs:\n- name: a\n  plan: [{task: x, run: ((v))((v))}]\n- name: a\n  plan: 3\n"

    assert [line.partition(": ")[0] for line in problems(text)] == ["3:25", "4:9", "5:9"]


def test_error_names_no_unprintable_character(problems):
    [line] = problems(TASK + '"\\e[31m": a\n')

    assert "\x1b" not in line
    assert "unknown key `\\x1b[31m`" in line


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


NAMES = TEXTS.filter(lambda key: key.strip() and key.isprintable() and "=" not in key)


@settings(max_examples=60, deadline=None)
@given(env=st.dictionaries(NAMES, TEXTS))
def test_texts_dumped_as_yaml_come_back_as_they_were(env):
    document = {"jobs": [{"name": "j", "plan": [{"task": "t", "run": "env", "env": env}]}]}
    variables = _Anything()

    for style in (None, "'", "|"):
        text = yaml.safe_dump(document, default_style=style)
        assert load_text(text, variables=variables).job().plan[0].env == env


class _Anything(dict):
    """Gives each placeholder back as it stood, if it was written without spaces."""

    def get(self, key, default=None):
        return f"(({key}))"


def assert_loads_or_is_located(text):
    error = ""
    try:
        load_text(text)
    except ConfigError as exc:
        error = str(exc)
    assert all(re.match(r"<cell>:\d+:\d+: \S", line) for line in error.splitlines())


@settings(max_examples=150, deadline=None)
@given(st.text() | st.text("-: \n[]{}\"'&*!|>#%@a?,~0\t", max_size=40))
def test_any_text_loads_or_is_a_located_error(text):
    assert_loads_or_is_located(text)


KEYS = st.sampled_from(
    [
        "jobs",
        "agents",
        "resources",
        "name",
        "plan",
        "task",
        "agent",
        "get",
        "run",
        "prompt",
        "messages",
        "inputs",
        "outputs",
        "env",
        "tools",
        "assert",
        "files",
        "nudge",
        "source",
        "model",
        "path",
        "type",
        "timeout",
        "max_turns",
        "builtin",
        "python",
        "required",
        "tool_calls",
        "args",
        "defaults",
        "prices",
        "verdicts",
        "context",
        "from",
        "context_paths",
        "output",
        "retry",
        "llm",
        "run_timeout_secs",
        "description",
    ]
)
VALUES = st.recursive(
    st.sampled_from(
        ["a", "", "yes", "3", "-1", "0", "30s", "../x", "((v))", "read_file", "path", "local/x", "{{ .args.a }}"]
    ),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=st.dictionaries(KEYS, VALUES, max_size=4), step=st.dictionaries(KEYS, VALUES, max_size=5))
def test_any_document_loads_or_is_a_located_error(document, step):
    document.setdefault("jobs", [{"name": "j", "plan": [{"task": "t", **step}, step]}])
    assert_loads_or_is_located(yaml.safe_dump(document))


def test_default_resource_is_the_steps_own_name():
    plan = load_text(WITH_AGENT.replace("{task: make, run: echo hi}", "get: notes")).job().plan

    assert isinstance(plan[0], GetStep)
    assert (plan[0].resource, plan[0].params) == ("notes", {})

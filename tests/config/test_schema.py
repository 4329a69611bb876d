"""The printed JSON Schema."""

from pathlib import Path
from typing import get_args

import jsonschema
import pytest
import yaml

from stepsnb.config import Pipeline, schema
from stepsnb.config.concept import Concept
from stepsnb.config.conversions import to_plain
from stepsnb.config.problems import Problems
from stepsnb.config.reader import read_tree

CORPUS = Path(__file__).parents[1] / "corpus" / "valid"
VALID = [path for path in sorted(CORPUS.glob("*.yml")) if "# with: --var" not in path.read_text("utf-8")]


@pytest.fixture(scope="module")
def validator():
    return jsonschema.Draft202012Validator(schema())


PIPELINE = """
agents:
- {name: writer, source: {model: local/smollm2}, tools: [read_file, {builtin: ask_user, timeout: 5m}], timeout: "0"}
resources: [{name: notes, type: path, source: {path: notes}}]
jobs:
- name: build
  timeout: 5m
  plan: [{get: notes}, {agent: writer, prompt: Go., inputs: [notes]}, {task: t, run: echo, assert: {code: 0}}]
"""


def test_schema_accepts_what_loads():
    jsonschema.validate(yaml.safe_load(PIPELINE), schema())


@pytest.mark.parametrize("wrong", ["file: x", "jobs: []\nresources: [{name: n, type: path, source: {uri: x}}]"])
def test_schema_refuses_unknown_keys(wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load("jobs: []\n" + wrong if "jobs" not in wrong else wrong), schema())


def test_schema_names_keys_as_they_are_written():
    steps = schema()["$defs"]

    assert {"assert", "timeout"} <= steps["TaskStep"]["properties"].keys()
    assert not {"assert_", "timeout_s", "where"} & steps["TaskStep"]["properties"].keys()


def test_schema_has_the_keys_of_deep_conversations():
    concepts = schema()["$defs"]

    assert {"attempts", "retry", "compact_after_tokens", "max_context_bytes"} <= concepts["Agent"]["properties"].keys()
    step = concepts["AgentStep"]["properties"].keys()
    assert {"attempts", "verdicts", "context", "context_paths", "max_context_bytes", "output"} <= step
    assert concepts["StepContextFrom"]["properties"].keys() == {"from"}
    assert concepts["RetryLayers"]["properties"].keys() == {"default", "llm", "tool", "subagent", "connector"}
    assert {"name", "python", "args", "max_calls"} <= concepts["PythonGrant"]["properties"].keys()


def test_schema_accepts_keys_of_deep_conversations():
    text = """
agents:
- name: writer
  source: {model: m, client: my_client}
  attempts: 5
  retry: {llm: {run_timeout_secs: 30, max_attempts: 2}}
  tools: [{agent: other, timeout: 5m}, {name: t, description: d, run: "echo {{ .args.a }}", args: {b: 1}}]
jobs:
- name: build
  plan:
  - agent: writer
    prompt: Go.
    verdicts: [yes, no]
    context: {from: {other: note}}
    output: {python: Report}
    assert: {verdict: "yes"}
"""
    jsonschema.validate(yaml.load(text, yaml.BaseLoader) | {"agents": yaml.safe_load(text)["agents"]}, schema())


def concepts(model=Pipeline):
    """Yield every model of the language, each once."""
    seen = []

    def search(kind):
        if kind in seen or not (isinstance(kind, type) and issubclass(kind, Concept)):
            for part in get_args(kind):
                search(part)
            return
        seen.append(kind)
        for field in kind.model_fields.values():
            search(field.annotation)

    search(model)
    return seen


def test_schema_has_every_key_of_every_concept():
    printed = schema()
    definitions = printed["$defs"] | {"Pipeline": printed}

    for concept in concepts():
        assert definitions[concept.__name__]["properties"].keys() == concept.keys(), concept
        assert definitions[concept.__name__]["additionalProperties"] is False


def test_schema_names_steps_of_any_kind():
    printed = schema()

    assert printed["$defs"]["DoStep"]["properties"]["do"]["items"] == {"$ref": "#/$defs/Step"}
    assert printed["$defs"]["Job"]["properties"]["ensure"]["anyOf"] == [{"$ref": "#/$defs/Step"}, {"type": "null"}]
    assert len(printed["$defs"]["Step"]["anyOf"]) == 11


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_schema_accepts_the_corpus(validator, path):
    text = path.read_text("utf-8").replace("((times))", "2")  # a number that a `load_var` sets as the job runs
    tree = read_tree(text, Problems("p.yml"), {}).root

    validator.validate(to_plain(tree))


@pytest.mark.parametrize(
    "step",
    [
        "{task: t, run: echo, rnu: x}",
        "{do: [{tsak: t}]}",
        "{in_parallel: []}",
        "{race: all}",
        "{in_parallel: {steps: [], limit: 0}}",
        "{task: t, run: echo, across: [{values: [a]}]}",
        "{get: r, version: newest}",
        "{put: r, inputs: some}",
        "{task: t, run: echo, ensure: {task: x, rn: echo}}",
        "{task: t, run: echo, container_limits: {memory: lots}}",
        "{agent: a, prompt: Go., verdicts: [{a: b, c: d}]}",
    ],
)
def test_schema_refuses_what_the_loader_does(validator, step):
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(yaml.safe_load(f"jobs: [{{name: j, plan: [{step}]}}]"))

"""The printed JSON Schema."""

import jsonschema
import pytest
import yaml

from stepsnb.config import schema

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

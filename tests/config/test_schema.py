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

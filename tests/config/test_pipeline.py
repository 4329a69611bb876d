"""Looking things up in a loaded pipeline."""

import pytest

from stepsnb.config import load_text
from stepsnb.errors import InputError

ONE = """
agents: [{name: writer, source: {model: local/smollm2}}]
resources: [{name: notes, type: path, source: {path: notes, ignore: ["*.log"]}}]
jobs: [{name: build, plan: [{get: notes}, {agent: writer, prompt: Go.}]}]
"""
TWO = ONE.strip()[:-1] + ", {name: test, plan: [{task: t, run: echo}]}]\n"


def test_agent_and_resource_are_found_by_name():
    pipeline = load_text(ONE)

    assert pipeline.agent("writer").source.model == "local/smollm2"
    assert pipeline.resource("notes").source == {"path": "notes", "ignore": ("*.log",)}


def test_only_job_needs_no_name():
    assert load_text(ONE).job().name == "build"


def test_one_of_several_jobs_is_named():
    assert load_text(TWO).job("test").name == "test"


@pytest.mark.parametrize(
    ("look_up", "error"),
    [
        (lambda p: p.agent("writr"), "p.yml: unknown agent `writr` (did you mean `writer`?); available: writer"),
        (lambda p: p.resource("note"), "p.yml: unknown resource `note` (did you mean `notes`?); available: notes"),
        (lambda p: p.job("tset"), "p.yml: unknown job `tset` (did you mean `test`?); available: build, test"),
        (lambda p: p.job(), "p.yml: has 2 jobs, so name one: build, test"),
    ],
)
def test_unknown_name_is_an_input_error(look_up, error):
    with pytest.raises(InputError) as caught:
        look_up(load_text(TWO, file="p.yml"))

    assert str(caught.value) == error


def test_pipeline_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        load_text(ONE).file = "other"


def test_source_names_its_server_and_its_keys_variable():
    text = ONE.replace(
        "{model: local/smollm2}", "{model: m, endpoint: 'http://127.0.0.1:8080/v1', api_key_env: MY_KEY}"
    )

    source = load_text(text).agent("writer").source

    assert (source.model, source.endpoint, source.api_key_env) == ("m", "http://127.0.0.1:8080/v1", "MY_KEY")
    assert (source.tool_mode, source.string_tool_choice, source.stream) == ("auto", None, True)

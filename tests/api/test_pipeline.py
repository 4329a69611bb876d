"""Loading pipelines, and starting runs of them."""

from pathlib import Path

import pytest

import stepsnb
from stepsnb.errors import ConfigError, InputError

TASK = """
jobs:
- name: j
  plan:
  - {task: t, run: echo ((word))}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_line_that_ends_as_a_pipelines_file_is_a_path(here):
    (here / "p.yml").write_text(TASK)
    assert stepsnb.load("p.yml", vars={"word": "a"}).jobs == ["j"]
    assert stepsnb.load(here / "p.yml", vars={"word": "a"}).pipeline.base_dir == here


def test_file_of_any_name_is_loaded_as_a_path(here):
    (here / "pipeline").write_text(TASK)
    assert stepsnb.load(Path("pipeline"), vars={"word": "a"}).jobs == ["j"]


@pytest.mark.parametrize("path", ["nope.yml", Path("nope")])
def test_path_that_does_not_exist_says_where_it_starts(here, path):
    with pytest.raises(ConfigError) as caught:
        stepsnb.load(path)
    assert str(caught.value) == f"{path}: no such file; check the path, it starts at {here}"


def test_folder_is_no_pipeline(here):
    with pytest.raises(ConfigError, match="is a folder; name a file in it"):
        stepsnb.load(here)


@pytest.mark.parametrize("text", ["review", "my pipeline", "pipelines/review"])
def test_name_that_is_neither_text_nor_path_says_how_to_write_a_path(text):
    with pytest.raises(ConfigError) as caught:
        stepsnb.load(text)
    assert str(caught.value) == (
        f"`{text}` is no pipeline, and a path ends in `.yml` or `.yaml`; hand other paths in as a `Path`"
    )


def test_text_on_one_line_is_a_pipeline():
    assert stepsnb.load("{jobs: [{name: j, plan: [{task: t, run: ls}]}]}").jobs == ["j"]


def test_problems_carry_the_texts_name():
    with pytest.raises(ConfigError, match=r"^cell:1:7: `jobs:` is empty"):
        stepsnb.load("jobs: []", name="cell")


def test_unresolved_variable_is_a_load_error_that_says_how_to_set_it():
    with pytest.raises(
        ConfigError, match=r"^<text>:5:20: job `j`, step 1 \(task `t`\): `\(\(word\)\)` has no value; set it with"
    ):
        stepsnb.load(TASK)


def test_loaded_pipeline_stays_what_was_loaded(here):
    (here / "p.yml").write_text(TASK)
    pipeline = stepsnb.load("p.yml", vars={"word": "a"})
    (here / "p.yml").unlink()
    assert pipeline.run(memory=True).text == "a\n"
    assert pipeline.run(memory=True, vars={"word": "b"}).text == "b\n"
    assert pipeline.run(memory=True).text == "a\n"


def test_relative_paths_start_where_the_text_was_loaded(here, tmp_path_factory, monkeypatch):
    (here / "data.txt").write_text("mine")
    text = """
resources: [{name: data, type: path, source: {path: data.txt}}]
jobs: [{name: j, plan: [{get: data}, {task: t, inputs: [data], run: "cat data/data.txt; : ((word))"}]}]
"""
    pipeline = stepsnb.load(text, vars={"word": "a"})
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert [pipeline.run(memory=True).text, pipeline.run(memory=True, vars={"word": "b"}).text] == ["mine", "mine"]


def test_pipeline_of_several_jobs_wants_one_named():
    text = "jobs: [{name: a, plan: [{task: t, run: ls}]}, {name: b, plan: [{task: t, run: ls}]}]"
    with pytest.raises(InputError) as caught:
        stepsnb.load(text).run(memory=True)
    assert str(caught.value) == "<text>: has 2 jobs, so name one: a, b"


def test_steps_alone_run_under_the_first_ones_name():
    run = stepsnb.load(TASK, vars={"word": "a"}).start_steps("- {task: x, run: echo ((word))}", memory=True).result()
    assert (run.job, run.text) == ("x", "a\n")


def test_wrong_steps_are_refused_with_their_place():
    with pytest.raises(ConfigError, match=r"^<cell>:1:3: step 1 \(task `x`\): `run:` is missing"):
        stepsnb.load(TASK, vars={"word": "a"}).start_steps("- task: x", memory=True)


AGENT = """
agents: [{name: a, source: {model: ((model))}, tools: [{python: ((tool))}]}]
jobs: [{name: j, plan: [{agent: a, prompt: hi}]}]
"""


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("tide", "unknown function `tide`"),
        ("json:nope", "python tool `json:nope`: unknown function `nope`; available: "),
        ("no_such_module:tide", "python tool `no_such_module:tide`: importing `no_such_module` failed: ModuleNotFound"),
    ],
)
def test_function_that_is_not_there_is_said_before_a_request_is_made(scripted_llm, tool, message):
    run = stepsnb.load(AGENT, vars={"model": scripted_llm.model, "tool": tool}).run(memory=True)
    assert run.outcome == "errored"
    assert message in run.error
    assert scripted_llm.request_count == 0


def test_function_of_a_module_is_a_tool(scripted_llm):
    scripted_llm.says(calls=[("basename", {"p": "a/b"})]).says("ok")
    run = stepsnb.load(AGENT, vars={"model": scripted_llm.model, "tool": "posixpath:basename"}).run(memory=True)
    assert [event.result for event in run.events if event.kind == "tool" and event.phase == "end"] == ["b"]

"""What a run may be given."""

import gc
import sys

import pytest

import stepsnb
from stepsnb.api.options import RunPlace, files_of, functions_of, secrets_of
from stepsnb.config import load_text
from stepsnb.errors import InputError, StoreError

TASK = "jobs: [{name: j, plan: [{task: t, run: 'echo hi'}]}]"


def hello(name: str) -> str:
    """Greet."""
    return f"hello {name}"


def test_one_path_is_a_list_of_one(tmp_path):
    assert files_of({"files": str(tmp_path)}) == files_of({"files": tmp_path}) == files_of({"files": [tmp_path]})
    assert files_of({}) == files_of({"files": None}) == []


def test_functions_are_looked_up_in_what_is_nearest_first(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "hello", hello, raising=False)
    mine, loaded = {"tide": len}, {"tide": max, "wind": min}
    found = functions_of(mine, loaded)
    assert (found["tide"], found["wind"], found["hello"]) == (len, min, hello)


def test_names_of_the_program_are_those_of_the_moment(monkeypatch):
    found = functions_of(None)
    assert "hello_later" not in found
    monkeypatch.setattr(sys.modules["__main__"], "hello_later", hello, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "number_later", 3, raising=False)
    assert found["hello_later"] is hello
    assert "hello_later" in list(found)
    assert found["number_later"] == 3  # whoever asks for a function says what else it found


def test_functions_that_are_no_mapping_are_refused():
    with pytest.raises(InputError) as caught:
        stepsnb.load(TASK).run(functions=[hello], memory=True)
    assert str(caught.value) == "functions: give a mapping {'name': function}"


def test_keys_and_long_values_of_env_are_secrets(monkeypatch):
    monkeypatch.setenv("MY_KEY", "my-key-0123456789\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("OPENROUTER_API_KEY", "none")
    pipeline = load_text("""
agents: [{name: a, source: {model: openai/x, api_key_env: MY_KEY}}, {name: b, source: {model: openai/x}}]
jobs: [{name: j, plan: [{task: t, run: 'true', env: {MODE: fast, TOKEN: token-0123456789}}]}]
""")
    assert secrets_of(pipeline, pipeline.jobs[0].plan) == ["my-key-0123456789", "sk-0123456789", "token-0123456789"]


NESTED = """
agents: [{name: a, source: {model: openai/x}, env: {A: value-of-the-agent}}]
resource_types: [{name: r, check: x, in: y, env: {R: value-of-the-type}}]
jobs:
- name: other
  plan: [{task: t, run: 'true', env: {T: value-of-another-job}}]
- name: j
  plan:
  - do:
    - {try: {task: t, run: 'true', env: {T: value-inside-a-block}}}
    on_success: {task: h, run: 'true', env: {H: value-of-a-hook}}
  ensure: {task: e, run: 'true', env: {E: value-of-the-end}}
"""


def test_env_is_secret_wherever_it_stands():
    found = secrets_of(load_text(NESTED), ())
    assert sorted(found) == [
        *("value-inside-a-block", "value-of-a-hook", "value-of-another-job", "value-of-the-agent"),
        *("value-of-the-end", "value-of-the-type"),
    ]


def test_secret_is_not_in_the_pipeline_as_recorded(tmp_path):
    text = "jobs: [{name: j, plan: [{do: [{task: t, run: 'true', env: {TOKEN: token-0123456789}}]}]}]"
    stepsnb.load(text).run(store=tmp_path)
    assert not any(b"token-0123456789" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_secret_of_a_step_run_in_a_cell_is_not_stored(tmp_path):
    opened = stepsnb.load(TASK).open(store=tmp_path)
    run = opened.run_steps("- {task: t, run: 'echo $TOKEN', env: {TOKEN: token-0123456789}}").result()
    assert [event.stdout for event in run.events if event.kind == "output"] == ["[redacted]\n"]
    opened.finish().result()


def test_place_of_a_run_that_is_not_stored_goes_with_its_last_holder():
    place = RunPlace({"memory": True})
    root = place.root
    assert (place.is_kept, root.is_dir()) == (False, True)
    del place
    gc.collect()
    assert not root.exists()


def test_run_that_nobody_holds_keeps_its_files_until_it_ends(tmp_path):
    seen = []
    text = TASK.replace("'echo hi'", "'sleep 0.3; echo x > o/x', outputs: [o]}, {task: u, inputs: [o], run: cat o/x")
    task = stepsnb.load(text).start(memory=True, on_event=seen.append)._task
    gc.collect()
    task.wait(10)
    assert (seen[-1].kind, seen[-1].outcome) == ("run_finished", "succeeded")


def test_store_that_cannot_be_made_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot create store"):
        stepsnb.load(TASK).start(store=tmp_path / "file")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"answers": 3}, InputError, "answers: give a mapping {'part of the question': 'answer'} or a list of texts"),
        ({"files": "no/such.csv"}, InputError, "files: no file or folder `no/such.csv`"),
        ({"anwers": {}}, InputError, "unknown option `anwers`; there are: vars, answers, store, files"),
    ],
)
def test_option_that_does_not_fit_is_refused_before_anything_runs(tmp_path, options, error, message):
    seen = []
    with pytest.raises(error) as caught:
        stepsnb.load(TASK).start(store=tmp_path, on_event=seen.append, **options)
    assert message in str(caught.value)
    assert seen == []

"""Typed output of steps that are not run again: there, in its form, and never one that does not fit any more."""

import json

import pydantic
import pytest

import stepsnb

SCHEMA = {"type": "object", "properties": {"tides": {"type": "integer"}}, "required": ["tides"]}


class Tides(pydantic.BaseModel):
    tides: int


class Stricter(pydantic.BaseModel):
    tides: int = pydantic.Field(gt=100)


@pytest.fixture
def load(scripted_llm, tmp_path, monkeypatch):
    """Load a job whose agent hands in typed output, followed by a task that fails until `flag` is there."""
    monkeypatch.setenv("FLAGS", str(tmp_path))

    def load(output, **keys):
        step = {"agent": "a", "prompt": "Count.", "outputs": ["out"], "output": output, **keys}
        gate = {"task": "gate", "run": 'test -e "$FLAGS/flag"'}
        agents = [{"name": "a", "source": {"model": scripted_llm.model}}]
        path = tmp_path / "job.yml"
        path.write_text(json.dumps({"agents": agents, "jobs": [{"name": "job", "plan": [step, gate]}]}))
        return stepsnb.load(path)

    return load


def hand_in(scripted_llm, tides=4):
    scripted_llm.says(calls=[("submit_output", {"tides": tides})]).says("Counted.")


@pytest.mark.parametrize(("output", "value"), [(SCHEMA, {"tides": 4}), ({"python": "Tides"}, Tides(tides=4))])
def test_reused_step_has_its_data(load, scripted_llm, store, output, value):
    hand_in(scripted_llm)
    for _ in range(2):
        run = load(output).run(store=store, functions={"Tides": Tides})
    assert (run.steps[0].outcome, run.steps[0].data, run.data) == ("reused", value, value)
    assert (run.steps[0].text, scripted_llm.request_count) == ("Counted.", 2)


def test_resumed_run_has_the_data_of_steps_that_were_done(load, scripted_llm, store, tmp_path):
    hand_in(scripted_llm)
    run = load(SCHEMA, volatile=True).run(store=store)
    assert run.outcome == "failed"
    (tmp_path / "flag").touch()
    resumed = stepsnb.resume(run.run_id, store=store)
    assert (resumed.outcome, resumed.data, scripted_llm.request_count) == ("succeeded", {"tides": 4}, 2)


def test_resumed_run_has_the_data_of_a_step_that_was_reused(load, scripted_llm, store, tmp_path):
    hand_in(scripted_llm)
    load(SCHEMA).run(store=store)
    run = load(SCHEMA).run(store=store)
    (tmp_path / "flag").touch()
    resumed = stepsnb.resume(run.run_id, store=store)
    assert (resumed.steps[0].outcome, resumed.data, resumed.steps[0].text) == ("reused", {"tides": 4}, "Counted.")


def test_replay_from_a_later_step_has_the_data(load, scripted_llm, store):
    hand_in(scripted_llm)
    run = load(SCHEMA, volatile=True).run(store=store)
    assert stepsnb.replay(run.run_id, from_step="gate", store=store).data == {"tides": 4}


def test_data_that_does_not_fit_a_changed_model_is_made_anew(load, scripted_llm, store):
    hand_in(scripted_llm)
    load({"python": "Form"}).run(store=store, functions={"Form": Tides})
    hand_in(scripted_llm, tides=400)
    run = load({"python": "Form"}).run(store=store, functions={"Form": Stricter})
    assert (run.steps[0].outcome, run.data) == ("succeeded", Stricter(tides=400))


def test_step_of_a_resumed_run_whose_data_does_not_fit_any_more_runs_again(load, scripted_llm, store, tmp_path):
    hand_in(scripted_llm)
    run = load({"python": "Form"}, volatile=True).run(store=store, functions={"Form": Tides})
    (tmp_path / "flag").touch()
    hand_in(scripted_llm, tides=400)
    resumed = stepsnb.resume(run.run_id, store=store, functions={"Form": Stricter})
    assert (resumed.outcome, resumed.data) == ("succeeded", Stricter(tides=400))

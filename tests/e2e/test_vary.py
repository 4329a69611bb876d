"""A prompt is put to variants of an agent, and a table says how each did."""

import json
import math

import pytest

import stepsnb
from stepsnb.errors import InputError
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel


@pytest.fixture
def models():
    """Two models to try."""
    made = [ScriptedModel(f"vary-{letter}") for letter in "ab"]
    for model in made:
        register_script(model.script.name, model.script)
    yield made
    for model in made:
        unregister_script(model.script.name)


@pytest.fixture
def pipeline(models):
    return stepsnb.load(f"""
prices: {{{models[0].model}: {{input: 2, output: 8}}}}
agents: [{{name: writer, source: {{model: {models[0].model}}}, system: You write., tools: [], temperature: 1}}]
jobs: [{{name: j, plan: [{{agent: writer, prompt: x}}]}}]
""")


def test_each_model_has_a_row(pipeline, models, tmp_path):
    models[0].says("From a.", usage={"input": 1000, "output": 100})
    models[1].says("From b.", error=None)
    names = [model.model for model in models]
    found = stepsnb.vary("writer", "Write.", {"model": names}, pipeline=pipeline, store=tmp_path / "store")
    assert found[["model", "message", "outcome", "text"]].values.tolist() == [
        [names[0], 1, "succeeded", "From a."],
        [names[1], 1, "succeeded", "From b."],
    ]
    assert (found["cost_usd"][0], found["input_tokens"][0]) == (pytest.approx(0.0028), 1000)
    assert stepsnb.show(found.attrs["run_id"], store=tmp_path / "store").job == "vary"


def test_all_combinations_of_dials_and_messages_are_tried(pipeline, models, tmp_path):
    for n in range(4):
        models[0].says(f"Answer {n}.")
    found = stepsnb.vary(
        "writer", ["Short.", "Long."], {"temperature": [0, "0.5"]}, pipeline=pipeline, store=tmp_path / "store"
    )
    assert found[["temperature", "message"]].astype(str).values.tolist() == [
        ["0", "1"],
        ["0", "2"],
        ["0.5", "1"],
        ["0.5", "2"],
    ]
    sent = sorted((body["temperature"], body["messages"][1]["content"]) for body in models[0].requests)
    assert sent == [(0, "Long."), (0, "Short."), (0.5, "Long."), (0.5, "Short.")]


def test_persona_is_a_dial_whose_long_values_are_told_apart(pipeline, models, tmp_path):
    models[0].says("One.").says("Two.")
    long = "You write very long sentences about everything, "
    found = stepsnb.vary(
        "writer", "Write.", {"system": [long + "a", long + "b"]}, pipeline=pipeline, store=tmp_path / "store"
    )
    assert list(found["system"]) == [long + "a", long + "b"]
    assert len({body["messages"][0]["content"] for body in models[0].requests}) == 2


def test_variant_that_fails_leaves_the_others_alone(pipeline, models, tmp_path):
    models[0].says(error=(400, "no such dial"))
    models[1].says("From b.")
    names = [model.model for model in models]
    found = stepsnb.vary("writer", "Write.", {"model": names}, pipeline=pipeline, store=tmp_path / "store")
    assert list(found["outcome"]) == ["errored", "succeeded"]
    assert "no such dial" in found["error"][0]


def test_variants_may_decide(pipeline, models, tmp_path):
    for model, verdict in zip(models, ("good", "bad"), strict=True):
        model.says(calls=[("verdict", {"verdict": verdict})]).says("Done.")
    names = [model.model for model in models]
    found = stepsnb.vary(
        "writer", "Judge.", {"model": names}, pipeline=pipeline, verdicts=["good", "bad"], store=tmp_path / "store"
    )
    assert list(found["verdict"]) == ["good", "bad"]


def test_unpriced_variant_has_no_cost(models, tmp_path):
    models[1].says("B.")
    text = json.dumps(
        {
            "agents": [{"name": "w", "source": {"model": "openai/x", "endpoint": "http://127.0.0.1:9/v1"}}],
            "jobs": [{"name": "j", "plan": [{"agent": "w", "prompt": "x"}]}],
        }
    )
    found = stepsnb.vary(
        "w", "Go.", {"temperature": [0]}, pipeline=text.replace('"w", "source"', '"w", "attempts": 1, "source"'),
        store=tmp_path / "store",
    )  # fmt: skip
    assert (found["outcome"][0], math.isnan(found["cost_usd"][0])) == ("errored", False)  # never reached, never billed


@pytest.mark.parametrize(
    ("dials", "messages", "words"),
    [
        ({"temprature": [0]}, "Go.", r"vary: unknown dial `temprature` \(did you mean `temperature`"),
        ({"temperature": ["warm"]}, "Go.", "vary: `temperature: warm`"),
        ({"temperature": [-1]}, "Go.", "vary: `temperature: -1`"),
        ({"model": "openai/a"}, "Go.", "give the values of `model` as a list"),
        ({"model": []}, "Go.", "give the values of `model` as a list"),
        ({"temperature": [0]}, " ", "a message is empty"),
        ({"temperature": list(range(101))}, "Go.", "at most 100; give fewer values"),
    ],
)
def test_what_cannot_be_varied_is_named_before_anything_is_sent(pipeline, models, tmp_path, dials, messages, words):
    with pytest.raises(InputError, match=words):
        stepsnb.vary("writer", messages, dials, pipeline=pipeline, store=tmp_path / "store")
    assert models[0].requests == []


def test_unknown_agent_is_named(pipeline, tmp_path):
    with pytest.raises(InputError, match=r"unknown agent `writr` \(did you mean `writer`"):
        stepsnb.vary("writr", "Go.", {"temperature": [0]}, pipeline=pipeline, store=tmp_path / "store")

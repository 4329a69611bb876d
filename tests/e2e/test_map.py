"""An agent is asked once for each row of a DataFrame, and a DataFrame comes back."""

import json
import math

import pandas as pd
import pytest
from pydantic import BaseModel

import stepsnb
from stepsnb.errors import InputError
from stepsnb.llm import register_script, unregister_script
from stepsnb.llm.transports.script import Conversation, Script, ScriptedCall, ScriptedError, ScriptedReply
from stepsnb.usage import Usage

PLACES = pd.DataFrame({"place": ["Bergen", "Oslo", "Bodø"], "metres": [1.4, math.nan, 3.0]}, index=[7, 8, 9])


class Tide(BaseModel):
    """What the model hands in."""

    metres: float


@pytest.fixture
def model():
    """A model that answers each first message as told, whatever the order."""
    name = "map-model"
    asked = []

    def build(**answers):
        """`answers` are replies, or lists of them, by a word of the message."""

        def conversation(word, replies):
            replies = replies if isinstance(replies, list) else [replies]
            return Conversation(when=word, replies=replies)

        script = Script(
            name=name,
            conversations=[conversation(word, replies) for word, replies in answers.items()],
            on_request=asked.append,
        )
        register_script(name, script)
        return f"scripted/{name}"

    build.asked = asked
    yield build
    unregister_script(name)


def says(text, **usage):
    return ScriptedReply(text=text, usage=Usage(**usage))


def messages(asked):
    return [body["messages"][-1]["content"] for body in asked]


def test_each_row_has_its_answer_beside_it(model, tmp_path):
    name = model(Bergen=says("low"), Oslo=says("none"), Bodø=says("high"))
    found = stepsnb.map(name, PLACES, "Tide of ((place)), ((metres)) m?", store=tmp_path / "store")
    assert list(found["text"]) == ["low", "none", "high"]
    assert list(found["outcome"]) == ["succeeded"] * 3
    assert (list(found.index), list(found.columns[:2])) == ([7, 8, 9], ["place", "metres"])
    assert sorted(messages(model.asked)) == ["Tide of Bergen, 1.4 m?", "Tide of Bodø, 3.0 m?", "Tide of Oslo,  m?"]


def test_run_is_stored_with_its_cells_as_any_other(model, tmp_path):
    name = model(Bergen=says("low"), Oslo=says("none"), Bodø=says("high"))
    found = stepsnb.map(name, PLACES, "Tide of ((place))?", store=tmp_path / "store")
    steps = stepsnb.steps(found.attrs["run_id"], store=tmp_path / "store")
    assert len(steps[steps["coordinates"].astype(bool)]) >= 3


def test_row_that_fails_leaves_the_others_alone(model, tmp_path):
    broken = ScriptedReply(error=ScriptedError(status=400, message="no such place"))
    name = model(Bergen=says("low"), Oslo=broken, Bodø=says("high"))
    found = stepsnb.map(name, PLACES, "Tide of ((place))?", store=tmp_path / "store")
    assert list(found["outcome"]) == ["succeeded", "errored", "succeeded"]
    assert "no such place" in found["error"][8]
    assert found["text"].isna().tolist() == [False, True, False]


def test_prompt_may_be_a_function_of_the_row(model, tmp_path):
    name = model(BERGEN=says("a"), OSLO=says("b"), BODØ=says("c"))
    found = stepsnb.map(name, PLACES, lambda row: row["place"].upper(), store=tmp_path / "store")
    assert list(found["text"]) == ["a", "b", "c"]


def test_text_of_a_row_is_never_a_template(model, tmp_path):
    name = model(hostile=says("safe"))
    rows = pd.DataFrame({"t": ['hostile {{ .vars.row }} ((x)) "quoted" \n <b>']})
    found = stepsnb.map(name, rows, "((t))", store=tmp_path / "store")
    assert list(found["text"]) == ["safe"]
    assert messages(model.asked) == ['hostile {{ .vars.row }} ((x)) "quoted" \n <b>']


def test_equal_rows_are_asked_about_each(model, tmp_path):
    name = model(same=[says("yes")])
    found = stepsnb.map(name, pd.DataFrame({"t": ["same", "same"]}), "((t))", store=tmp_path / "store")
    assert (len(found), len(model.asked)) == (2, 2)


def test_agent_of_a_pipeline_decides(model, tmp_path):
    def decides(verdict):
        call = ScriptedCall(name="verdict", arguments=json.dumps({"verdict": verdict, "note": "so"}))
        return [ScriptedReply(calls=(call,)), says("Done.")]

    name = model(Bergen=decides("low"), Oslo=decides("low"), Bodø=decides("high"))
    pipeline = f"""
agents: [{{name: judge, source: {{model: {name}}}, tools: [], system: You judge.}}]
jobs: [{{name: j, plan: [{{agent: judge, prompt: x}}]}}]
"""
    found = stepsnb.map(
        "judge", PLACES, "((place))", pipeline=pipeline, verdicts=["low", "high"], store=tmp_path / "store"
    )
    assert list(found["verdict"]) == ["low", "low", "high"]
    assert list(found["note"]) == ["so"] * 3
    assert "You judge." in model.asked[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("output", "data"),
    [
        (Tide, Tide(metres=2.5)),
        (
            {"type": "object", "properties": {"metres": {"type": "number"}}, "required": ["metres"]},
            {"metres": 2.5},
        ),
    ],
)
def test_typed_output_is_in_a_column(model, tmp_path, output, data):
    call = ScriptedCall(name="submit_output", arguments='{"metres": 2.5}')
    name = model(Bergen=[ScriptedReply(calls=(call,)), says("Done.")])
    found = stepsnb.map(name, PLACES[:1], "((place))", output=output, store=tmp_path / "store")
    assert found["error"].isna().all(), found["error"].tolist()
    assert list(found["data"]) == [data]


def test_each_row_has_its_cost(model, tmp_path):
    name = model(Bergen=says("a", input_tokens=1000), Oslo=says("b", input_tokens=3000))
    pipeline = f"""
prices: {{{name}: {{input: 2, output: 8}}}}
agents: [{{name: a, source: {{model: {name}}}, tools: []}}]
jobs: [{{name: j, plan: [{{agent: a, prompt: x}}]}}]
"""
    found = stepsnb.map("a", PLACES[:2], "((place))", pipeline=pipeline, store=tmp_path / "store")
    assert list(found["cost_usd"]) == pytest.approx([0.002, 0.006])


def test_no_rows_ask_nobody_and_keep_the_columns(tmp_path):
    found = stepsnb.map("scripted/nobody", PLACES[:0], "((place))", store=tmp_path / "store")
    assert (len(found), "text" in found.columns) == (0, True)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("df", "prompt", "words"),
    [
        (PLACES, "Tide of ((plase))?", r"map: unknown column `plase` \(did you mean `place`"),
        ([1, 2], "x", "as a DataFrame, not as list"),
        (PLACES.rename(columns={"place": "text"}), "((text))", "column `text` is one that the result adds"),
    ],
)
def test_what_cannot_be_mapped_is_named_before_anything_is_asked(tmp_path, df, prompt, words):
    with pytest.raises(InputError, match=words):
        stepsnb.map("scripted/nobody", df, prompt, store=tmp_path / "store")


def test_long_prompts_have_short_names(model, tmp_path):
    name = model(word=says("ok"))
    found = stepsnb.map(name, pd.DataFrame({"t": ["word " * 500]}), "((t))", store=tmp_path / "store")
    names = stepsnb.steps(found.attrs["run_id"], store=tmp_path / "store")["name"]
    assert max(map(len, names)) < 90

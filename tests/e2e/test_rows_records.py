"""What a run leaves in the store of its conversations, however it ended."""

import json

import pytest

import stepsnb
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel
from tests.support.fixtures_step import PRINTS


@pytest.fixture
def helper_llm():
    """The model of an agent that another one calls."""
    model = ScriptedModel("helper-of-records")
    register_script("helper-of-records", model.script)
    yield model
    unregister_script("helper-of-records")


@pytest.fixture
def delegated(scripted_llm, helper_llm, store):
    """Run an agent that reads a file beforehand, calls a helper and reads what is not there; returns the run."""
    helper_llm.says("I look.", calls=[("read_file", {"path": "data/a.md"})]).says("An outage.")
    scripted_llm.says("Over to you.", calls=[("helper", {"request": "Condense."})])
    scripted_llm.says(calls=[("read_file", {"path": "data/none"})]).says("First done.").says("Second done.")
    agents = [
        {"name": "helper", "source": {"model": helper_llm.model}, "system": "You condense."},
        {
            "name": "lead",
            "source": {"model": scripted_llm.model},
            "system": "You lead.",
            "tools": ["read_file", {"agent": "helper"}],
        },
    ]
    work = {"agent": "lead", "messages": ["First.", "Second."], "inputs": ["data"], "context_paths": ["data/a.md"]}
    plan = [{"task": "prepare", "outputs": ["data"], "run": "printf 'a long account' > data/a.md"}, work]
    text = json.dumps({"agents": agents, "jobs": [{"name": "j", "plan": plan}]})
    return stepsnb.load(text).run(store=store)


def test_trajectory_is_the_calls_with_whether_each_did_well(delegated, store):
    rows = stepsnb.trajectory(delegated.run_id, store=store)
    assert rows[["step", "depth", "tool", "ok"]].values.tolist() == [
        ["lead", 0, "helper", True],
        ["helper", 1, "read_file", True],
        ["lead", 0, "read_file", False],
    ]
    assert [json.loads(args) for args in rows["args"]] == [
        {"request": "Condense."},
        {"path": "data/a.md"},
        {"path": "data/none"},
    ]


def test_transcript_is_all_that_was_said_with_what_was_put_in_and_the_children_in_their_place(delegated, store):
    rows = stepsnb.transcript(delegated.run_id, store=store)
    said = [[depth, role, (text or "").split("\n")[0][:20]] for depth, role, text in _told(rows)]
    assert said == [
        [0, "system", "You lead."],
        [0, "user", "First."],
        [0, "assistant", ""],
        [0, "tool", "a long account"],
        [0, "assistant", "Over to you."],
        [1, "system", "You condense."],
        [1, "user", "Condense."],
        [1, "assistant", "I look."],
        [1, "tool", "a long account"],
        [1, "assistant", "An outage."],
        [0, "tool", "An outage."],
        [0, "assistant", ""],
        [0, "tool", '{"error":"there is n'],
        [0, "assistant", "First done."],
        [0, "user", "Second."],
        [0, "assistant", "Second done."],
    ]
    assert rows.index[rows["synthetic"]].tolist() == [2, 3]
    calls = [json.loads(calls)[0]["name"] for calls in rows["tool_calls"].dropna() if calls != "[]"]
    assert calls == ["read_file", "helper", "read_file", "read_file"]


def _told(rows):
    rows = rows[rows["role"] != "note"]
    return zip(rows["depth"], rows["role"], rows["text"].fillna(""), strict=True)


@pytest.mark.parametrize("outcome", ["succeeded", "failed", "errored", "aborted"])
def test_every_outcome_leaves_its_transcript_once(run, scripted_llm, store, outcome):
    scripted_llm.says(calls=[("prints", {"n": 10})])
    options = {"agent": {"tools": [PRINTS, "ask_user"], "attempts": 1}}
    if outcome == "errored":
        scripted_llm.says(error=400)
    elif outcome == "aborted":
        scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})])
    else:
        scripted_llm.says("done")
    if outcome == "failed":
        options["step"] = {"assert": {"stdout": "something else"}}
    result = run(**options)
    assert result.outcome == outcome
    for _ in range(2):  # reading it again takes in nothing twice
        rows = stepsnb.transcript(result.run_id, store=store)
        roles = rows["role"][rows["role"] != "note"].tolist()
        assert roles[:4] == ["system", "user", "assistant", "tool"]
        assert rows["text"].tolist().count("x" * 10) == 1
        assert roles[4:] == {
            "succeeded": ["assistant"],
            "failed": ["assistant"],
            "errored": [],
            "aborted": ["assistant", "tool"],
        }.get(outcome)

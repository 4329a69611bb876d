"""What a plan says of a matrix whose values stand in a file, beside what the run then does."""

import json

import pytest

import stepsnb

LIST = {"task": "list", "outputs": ["repo"], "run": 'echo \'["a", "b"]\' > repo/names.json'}
EACH = {
    "task": "each",
    "across": [{"var": "name", "from_file": "repo/names.json"}],
    "inputs": ["repo"],
    "outputs": ["out"],
    "run": "echo {{ .vars.name }} > out/f",
}
PACK = {"task": "pack", "inputs": ["out"], "outputs": ["box"], "run": "find out -type f | sort > box/files"}


def load(*steps):
    return stepsnb.load(json.dumps({"jobs": [{"name": "job", "plan": list(steps)}]}))


def planned(loaded, store):
    rows = loaded.plan(store=store)
    return dict(zip(rows["step"], rows["action"], strict=True))


def done(run):
    """What the run did with each step."""
    return {step.name: "reuse" if step.outcome == "reused" else "run" for step in run.steps}


def test_before_the_file_is_there_its_cells_are_not_known(store):
    rows = load(LIST, EACH, PACK).plan(store=store)
    row = rows[rows["step"] == "each"].iloc[0]
    assert (row["action"], row["reason"]) == (
        "run",
        "its cells are known only when it runs; each is reused or runs by itself",
    )


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"run": "echo again {{ .vars.name }} > out/f"},
        {"volatile": True},
        {"across": [{"var": "name", "from_file": "repo/names.json"}, {"var": "n", "values": ["1", "2"]}]},
    ],
)
def test_plan_says_of_each_cell_what_the_run_does(store, changed):
    load(LIST, EACH, PACK).run(store=store)
    loaded = load(LIST, {**EACH, **changed}, PACK)  # its inputs may come out the same when the cells run
    expected = planned(loaded, store)
    ran = done(loaded.run(store=store))
    assert [name for name in expected if name not in ran] == ["each"]
    assert {name: expected[name] for name in ran if name != "pack"} == {k: v for k, v in ran.items() if k != "pack"}
    assert expected["pack"] == "run" or ran["pack"] == "reuse"


def test_file_that_is_made_anew_leaves_the_cells_open(store):
    load(LIST, EACH, PACK).run(store=store)
    loaded = load({**LIST, "volatile": True}, EACH, PACK)
    expected = planned(loaded, store)
    assert expected == {"list": "run", "each": "run", "pack": "run"}


def test_plan_after_a_run_was_resumed_knows_its_cells(store, tmp_path, monkeypatch):
    monkeypatch.setenv("FLAGS", str(tmp_path))
    gate = {"task": "gate", "run": 'test -e "$FLAGS/flag"'}
    loaded = load(LIST, EACH, PACK, gate)
    run = loaded.run(store=store)
    (tmp_path / "flag").touch()
    stepsnb.resume(run.run_id, store=store)
    cells = dict.fromkeys(("each", "each [name=a]", "each [name=b]"), "reuse")
    assert planned(loaded, store) == {"list": "reuse", **cells, "pack": "reuse", "gate": "run"}


@pytest.mark.parametrize(("text", "words"), [("nonsense", "is no JSON"), ('[\\"a\\", \\"a\\"]', "has `a` twice")])
def test_file_that_holds_no_values_is_said_to(store, text, words):
    bad = {**LIST, "run": f'echo "{text}" > repo/names.json'}
    load(bad, EACH).run(store=store)
    rows = load(bad, EACH).plan(store=store)
    assert words in rows[rows["step"] == "each"].iloc[0]["reason"]

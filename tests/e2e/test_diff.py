"""Two runs are compared step by step, as a frame and side by side."""

import json

import pytest

import stepsnb
from stepsnb.api import compare_runs
from stepsnb.cli.main import main
from stepsnb.errors import InputError

PIPELINE = """
prices: {((model)): {input: 1, output: 2}}
agents: [{name: judge, source: {model: ((model))}, system: ((persona)), tools: [list_dir, read_file]}]
jobs:
- name: review
  plan:
  - {task: make, run: 'echo tide > notes/a.txt', outputs: [notes], volatile: true}
  - agent: judge
    inputs: [notes]
    prompt: ((prompt))
    verdicts: [good, bad]
"""


@pytest.fixture
def review(scripted_llm, tmp_path):
    """Run the review with a prompt and what the model does."""

    def review(prompt="Read it.", persona="You judge.", calls=(), verdict="good", text="Fine.", usage=100):
        for call in calls:
            scripted_llm.says(calls=[call], usage=usage)
        scripted_llm.says(calls=[("verdict", {"verdict": verdict, "note": "as said"})], usage=usage)
        scripted_llm.says(text, usage=usage)
        variables = {"model": scripted_llm.model, "prompt": prompt, "persona": persona}
        run = stepsnb.run(PIPELINE, vars=variables, store=tmp_path / "store")
        assert run.outcome == "succeeded", run.error
        return run

    return review


LOOK, READ = ("list_dir", {}), ("read_file", {"path": "notes/a.txt"})


def rows(frame, step="1 judge"):
    own = frame[(frame["step"] == step) & ~frame["same"] & (frame["what"] != "duration_s")]
    return {what: pair for what, *pair in own[["what", "a", "b"]].fillna("-").values.tolist()}


def test_prompt_verdict_answer_and_persona_are_compared(review, tmp_path):
    a = review()
    b = review(prompt="Read it well.", persona="You judge hard.", verdict="bad", text="Not fine.")
    found = rows(stepsnb.diff(a.run_id, b.run_id, store=tmp_path / "store"))
    assert found["messages"] == ["Read it.", "Read it well."]
    assert found["verdict"] == ["good", "bad"]
    assert found["response"] == ["Fine.", "Not fine."]
    assert "You judge hard." in found["system"][1]
    assert "model" not in found


def test_calls_are_matched_like_lines_of_a_file(review):
    a, b = review(calls=[LOOK, READ]), review(calls=[READ])
    found = rows(stepsnb.diff(a, b))
    assert found["call 1"] == ["list_dir {}", "-"]
    assert "call 2" not in found
    same = stepsnb.diff(a, b).query("what == 'call 2'").iloc[0]
    assert (same["a"], same["same"]) == ('read_file {"path": "notes/a.txt"}', True)


def test_tokens_and_money_are_numbers_with_their_change(review):
    a, b = review(usage=100), review(usage=250)
    frame = stepsnb.diff(a, b).set_index(["step", "what"])
    assert frame.loc[("1 judge", "input_tokens"), "change"] == 300
    assert frame.loc[("", "cost_usd"), "change"] == pytest.approx(300e-6)
    assert frame.loc[("", "input_tokens"), ["a", "b"]].tolist() == ["200", "500"]


def test_run_compared_with_itself_is_the_same(review):
    run = review(calls=[LOOK])
    assert stepsnb.diff(run, run)["same"].all()
    assert compare_runs(run, run).is_same


def test_two_runs_that_do_the_same_differ_in_time_only(review):
    a, b = review(), review()
    assert compare_runs(a, b).is_same
    assert not stepsnb.diff(a, b)["same"].all()


def test_step_that_only_one_run_has_is_missing_in_the_other(tmp_path):
    one = "jobs: [{name: j, plan: [{task: t, run: echo a}]}]"
    two = "jobs: [{name: j, plan: [{task: t, run: echo a}, {task: u, run: echo b}]}]"
    a, b = (stepsnb.run(text, store=tmp_path / "store") for text in (one, two))
    assert rows(stepsnb.diff(a, b), "1 u") == {"outcome": ["-", "succeeded"], "response": ["-", "b\n"]}
    assert rows(stepsnb.diff(b, a), "1 u") == {"outcome": ["succeeded", "-"], "response": ["b\n", "-"]}


def test_visits_of_a_loop_are_compared_one_by_one(tmp_path):
    text = """
jobs:
- name: j
  plan:
  - {task: t, run: 'echo x >> "$LOG"; wc -l < "$LOG"', env: {LOG: ((log))}}
  - {task: u, run: 'test $(wc -l < "$LOG") -ge ((times))', env: {LOG: ((log))}, to: {failure: t}, max_visits: 9}
"""
    runs = [
        stepsnb.run(text, vars={"log": str(tmp_path / f"log{times}"), "times": times}, store=tmp_path / "store")
        for times in (2, 3)
    ]
    steps = list(dict.fromkeys(stepsnb.diff(*runs)["step"]))
    assert [step for step in steps if " t" in step] == ["0 t", "0 t (2)", "0 t (3)"]


def test_calls_of_a_sub_agent_belong_to_its_caller_and_its_messages_do_not(scripted_llm, tmp_path):
    scripted_llm.says(calls=[("helper", {"request": "Look."})]).says(calls=[("list_dir", {})]).says("Seen.").says("Ok.")
    text = f"""
agents:
- {{name: lead, source: {{model: {scripted_llm.model}}}, tools: [{{agent: helper}}]}}
- {{name: helper, source: {{model: {scripted_llm.model}}}, tools: [list_dir]}}
jobs: [{{name: j, plan: [{{agent: lead, prompt: Lead.}}]}}]
"""
    run = stepsnb.run(text, store=tmp_path / "store")
    assert run.outcome == "succeeded", run.error
    frame = stepsnb.diff(run, run).set_index(["step", "what"])
    assert frame.loc[("0 lead", "messages"), "a"] == "Lead."
    calls = [frame.loc[("0 lead", f"call {n}"), "a"].split()[0] for n in (1, 2)]
    assert sorted(calls) == ["helper", "list_dir"]


def test_side_by_side_marks_words_and_shows_text_as_text(review):
    a = review(text="The tide is <b>low</b>.")
    b = review(text="The tide is <img src=x> high.", prompt="Other.")
    html = compare_runs(a, b)._repr_html_()
    assert "<ins>&lt;img" in html
    assert "<del>&lt;b&gt;low&lt;/b&gt;.</del>" in html
    assert "<img" not in html
    assert "<b>" not in html


def test_long_texts_are_cut_and_say_so(review):
    a, b = review(text="x" * 9000), review(text="y " * 9000, prompt="Other.")
    html = compare_runs(a, b)._repr_html_()
    assert "5,000 characters more" in html
    assert len(html) < 60_000


def test_shell_prints_what_differs(review, tmp_path, capsys):
    a, b = review(), review(prompt="Read it well.", verdict="bad")
    assert main(["diff", a.run_id, b.run_id, "--store", str(tmp_path / "store")]) == 0
    shown = capsys.readouterr().out
    assert "  messages\n  - Read it.\n  + Read it well.\n" in shown
    assert "0 make: the same" in shown or "0 make\n" in shown
    assert main(["diff", a.run_id, b.run_id, "--store", str(tmp_path / "store"), "--json"]) == 0
    assert {"step": "1 judge", "what": "verdict", "a": "good", "b": "bad", "change": None, "same": False} in json.loads(
        capsys.readouterr().out
    )


def test_unknown_run_is_named(review, tmp_path):
    with pytest.raises(InputError, match="unknown run `NOPE`"):
        stepsnb.diff(review().run_id, "NOPE", store=tmp_path / "store")

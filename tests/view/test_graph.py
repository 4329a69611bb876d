"""The plan of a job as a graph."""

from stepsnb.config import load_text
from stepsnb.view.graph import GraphRoute, graph_html, graph_json, graph_text, plan_graph

_PIPELINE = """\
agents:
- name: writer
  source: { model: local/smollm2 }
- name: <critic>
  source: { model: local/smollm2 }
jobs:
- name: flat
  plan:
  - { task: build, run: "true" }
  - { agent: writer, messages: [Write.] }
- name: revise
  plan:
  - { agent: writer, messages: [Write.] }
  - in_parallel:
    - { task: spell, run: "true", when: test -f x }
    - do:
      - { task: count, run: "true", across: [{ var: a, values: [1, 2] }, { var: b, values: [x, y, z] }] }
      - { approval: { message: Ready? } }
  - { agent: <critic>, messages: [Judge.], max_visits: 3, verdicts: [good, { bad: writer }] }
"""


def _graph(job: str):
    pipeline = load_text(_PIPELINE)
    return plan_graph(pipeline, pipeline.job(job))


def test_steps_stand_before_those_inside_them() -> None:
    assert [(step.path, step.title, step.depth) for step in _graph("revise")] == [
        ("0", "writer", 0),
        ("1", "in parallel", 0),
        ("1.0", "spell (task)", 1),
        ("1.1", "do", 1),
        ("1.1.0", "count (task)", 2),
        ("1.1.1", "approval", 2),
        ("2", "<critic>", 0),
    ]


def test_a_step_says_what_there_is_to_know_before_it_runs() -> None:
    facts = {step.path: step.facts for step in _graph("revise")}

    assert facts["0"] == "local/smollm2"
    assert facts["2"] == "local/smollm2 · at most 3 visits"
    assert facts["1.0"] == "guarded by `when`"
    assert facts["1.1.0"] == "across a, b, 6 cells"
    assert facts["1.1.1"] == "Ready?"


def test_routes_name_their_verdict_and_target() -> None:
    assert _graph("revise")[-1].routes == (GraphRoute("bad", "writer"),)


def test_steps_that_only_follow_one_another_are_one_line() -> None:
    assert graph_text("flat", _graph("flat")) == "job flat: build (task) → writer"


def test_blocks_are_drawn_by_indentation() -> None:
    assert graph_text("revise", _graph("revise")).splitlines() == [
        "job revise:",
        "  writer · local/smollm2",
        "  in parallel",
        "    spell (task) · guarded by `when`",
        "    do",
        "      count (task) · across a, b, 6 cells",
        "      approval · Ready?",
        "  <critic> · local/smollm2 · at most 3 visits · bad → writer",
    ]


def test_lists_are_numbered_where_steps_follow_one_another_and_names_are_text() -> None:
    drawn = graph_html("revise", _graph("revise"))

    assert "<li>in parallel<ul><li>spell (task)" in drawn
    assert "<li>do<ol><li>count (task)" in drawn
    assert "&lt;critic&gt; · local/smollm2 · at most 3 visits · bad → writer</li></ol>" in drawn
    assert drawn.count("<ol>") == drawn.count("</ol>")
    assert drawn.count("<li>") == drawn.count("</li>")


def test_a_front_end_gets_plain_data() -> None:
    last = graph_json(_graph("revise"))[-1]

    assert last["title"] == "<critic>"
    assert last["routes"] == ({"on": "bad", "to": "writer"},)

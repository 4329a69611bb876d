"""Who may read whose decision."""

import pytest

from stepsnb.config import load_steps, load_text
from stepsnb.errors import ConfigError

AGENTS = "agents: [{name: critic, source: {model: a/b}}, {name: editor, source: {model: a/b}}]\n"
JOB = AGENTS + "jobs:\n- name: j\n  plan:\n"
CRITIC = "  - {agent: critic, prompt: p, verdicts: [yes, no]}\n"


def test_agents_and_tasks_read_decisions():
    text = JOB + CRITIC + "  - {agent: editor, prompt: p, context: {from: {critic: note}}}\n"
    text += "  - {task: gate, run: cat upstream/critic, context: {from: {critic: verdict}}}\n"
    _, editor, gate = load_text(text).jobs[0].plan

    assert editor.context.from_ == {"critic": "note"}
    assert gate.context.from_ == {"critic": "verdict"}


def test_verdicts_stay_text():
    assert load_text(JOB + CRITIC).jobs[0].plan[0].verdicts == ("yes", "no")


def test_an_agent_reads_what_it_decided_in_an_earlier_step():
    text = JOB + CRITIC + "  - {agent: critic, prompt: again, context: {from: {critic: full}}}\n"

    assert load_text(text).jobs[0].plan[1].context.from_ == {"critic": "full"}


def test_error_in_the_sender_is_not_repeated_at_its_reader(problems):
    text = JOB + "  - {agent: critic, prompt: p, verdicts: 3}\n  - {agent: critic, task: both}\n"
    text += "  - {task: gate, run: cat upstream/critic, context: {from: {critic: verdict}}}\n"

    assert [line.partition(": ")[0] for line in problems(text)] == ["5:42", "6:5"]


def test_error_in_the_reader_is_not_followed_by_an_echo(problems):
    text = JOB + "  - {task: gate, run: a, context: {from: {critc: all}}}\n"

    assert ["unknown part of a decision `all`" in line for line in problems(text)] == [True]


def test_a_cell_reads_what_an_earlier_cell_decided():
    [step] = load_steps("- {task: gate, run: a, context: {from: {critic: note}}}", pipeline=load_text(JOB + CRITIC))

    assert step.context.from_ == {"critic": "note"}


def test_a_cell_reads_nothing_of_a_step_in_it_that_decides_nothing():
    cell = "- {agent: critic, prompt: p}\n- {task: gate, run: a, context: {from: {critic: note}}}\n"

    with pytest.raises(ConfigError, match="step `critic` decides nothing"):
        load_steps(cell, pipeline=load_text(JOB + CRITIC))

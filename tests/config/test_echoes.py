"""What is wrong in one place is not wrong again in another that refers to it."""

import pytest

AGENTS = "agents: [{name: a, source: {model: m/x}}, {name: b, source: {model: m/x}}]\n"


def places(lines):
    return [line.partition(": ")[0] for line in lines]


@pytest.mark.parametrize(
    ("step", "count"),
    [
        ("{task: x, run: echo, inputs: [y], input_mapping: {y: ../z}}", 1),
        ("{task: x, run: echo, to: {failure: x}, max_visits: none}", 1),
        ("{ensemble: {verdicts: [yes], agents: [a, {agent: b, prompt: Go.}]}}", 1),
        ("{ensemble: {verdicts: [[x]], agents: [{agent: b, prompt: Go.}]}}", 1),
        ("{ensemble: {verdicts: [yes], decide: ghost, agents: [{agnt: b, prompt: Go.}]}}", 1),
        ("{in_parallel: {steps: [text, {task: x, run: echo, timeout: soon}]}}", 2),
        ("{task: x, run: echo, on_failure: {task: y, rn: echo}, ensure: {tsk: z}}", 2),
        ("{do: [{get: ghost}, {task: x, run: echo, inputs: [ghost]}]}", 1),
        ("{do: {task: x}}", 1),
        ("{race: {steps: {task: x}}}", 1),
        ("{agent: a, prompt: Go., message_files: [1.md]}", 1),
        ("{agent: a, message_files: a.md}", 1),
        ("{task: x, run: echo, image: [debian], network: none}", 1),
        ("{task: x, run: echo, fix: {agent: a, messages: 3, tools: [ghost]}}", 1),
        ("{agent: a, prompt: Go., across: [{var: [x], values: [1]}], budget: {tokens: 1}}", 1),
        ("{agent: a, prompt: Go., across: text, max_in_flight: 2}", 1),
        ("{put: site, inputs: [../a], params: {x: {file: b/c}}}", 2),
        ("{load_var: x, file: [a], inputs: [b]}", 1),
    ],
)
def test_mistake_in_a_step_is_told_once(problems, step, count):
    assert len(problems(f"{AGENTS}jobs: [{{name: j, plan: [{step}]}}]\n")) == count


def test_agent_with_errors_can_still_repair(problems):
    text = """agents:
- {name: a, source: [x], tools: 3}
- {name: b, source: {model: m/x}, tools: [run_shel]}
jobs: [{name: j, plan: [{task: x, run: echo, fix: {agent: a, tools: [x]}}, {task: y, run: echo, fix: b}]}]
"""
    assert places(problems(text)) == ["2:21", "2:33", "3:43"]


def test_agent_that_cannot_be_built_can_still_repair(problems):
    text = (
        "agents: [{name: ' a'}]\n"
        "jobs: [{name: j, plan: [{task: x, run: echo, fix: a}, {task: y, run: echo, fix: ' a'}]}]\n"
        ""
    )

    assert places(problems(text)) == ["1:10", "1:17", "2:51", "2:81"]


def test_entry_that_cannot_be_built_is_still_a_task(problems):
    text = "tasks: [{name: ' a', run: echo}]\njobs: [{name: j, plan: [{task: ' a'}]}]\n"

    assert places(problems(text)) == ["1:16", "2:32"]


def test_empty_cache_says_nothing(problems):
    text = "workspace: {cache: {}}\njobs: [{name: j, plan: [{task: x, run: echo}]}]\n"

    assert problems(text) == [
        "1:20: `workspace.cache:` says nothing; give `max_entries:` or `resources: true`, or remove it"
    ]

"""Where routes may lead."""

import pytest

AGENTS = "agents: [{name: a, source: {model: m/x}}, {name: b, source: {model: m/x}}]"
NOTES = "resources: [{name: notes, type: path, source: {path: n}}]"


def test_route_inside_a_group_stays_in_it(load_plan):
    plan = "- do: [{task: x, run: echo}, {task: y, run: echo, to: {failure: x}, max_visits: 2}]\n- {task: x, run: echo}"

    assert len(load_plan(plan).jobs[0].plan) == 2


def test_route_of_a_step_in_a_try_is_that_of_the_list(load_plan):
    plan = "- try: {task: x, run: echo, to: {failure: z}}\n- {task: y, run: echo}\n- try: {task: z, run: echo}"

    assert load_plan(plan).jobs[0].plan[0].name == "x"


def test_block_may_have_a_route(load_plan):
    plan = (
        "- in_parallel: {steps: [{task: x, run: echo}]}\n"
        "  to: {failure: z}\n"
        "- {task: y, run: echo}\n"
        "- {task: z, run: echo}"
    )

    assert load_plan(plan).jobs[0].plan[0].to.failure == "z"


def test_group_in_a_branch_and_in_a_hook_may_route_inside(load_plan):
    group = "do: [{task: x, run: echo, to: {failure: z}}, {task: y, run: echo}, {task: z, run: echo}]"
    plan = f"- in_parallel: {{steps: [{{{group}}}]}}\n  ensure: {{{group}}}"

    assert load_plan(plan).jobs[0].plan[0].hooks["ensure"].kind == "do"


def test_routes_between_the_same_gets_are_fine(load_plan):
    plan = (
        "- {get: notes}\n"
        "- {task: x, run: echo, to: {failure: z}}\n"
        "- {task: y, run: echo}\n"
        "- {task: z, run: echo}\n"
        "- {get: notes}"
    )

    assert len(load_plan(plan, NOTES).jobs[0].plan) == 5


def test_max_visits_may_stand_where_a_route_ends(load_plan):
    plan = "- {task: x, run: echo, max_visits: 3}\n- {task: y, run: echo, to: {failure: x}, max_visits: 3}"

    assert load_plan(plan).jobs[0].plan[0].max_visits == 3


@pytest.mark.parametrize("route", ["to: {failure: ghost}", "to: {failre: y}", "to: [y]", "max_visits: 0"])
def test_wrong_route_is_one_problem(problems, route):
    [line] = problems(f"jobs:\n- name: j\n  plan: [{{task: x, run: echo, {route}}}, {{task: y, run: echo}}]\n")

    assert "job `j`, step 1 (task `x`)" in line


def test_wrong_verdicts_are_one_problem(problems):
    text = f"{AGENTS}\njobs:\n- name: j\n  plan:\n  - {{agent: a, prompt: Go., verdicts: [[x], {{y: a}}]}}\n"

    assert len(problems(text)) == 1


def test_target_with_an_error_of_its_own_is_still_there(problems):
    text = (
        "jobs:\n"
        "- name: j\n"
        "  plan:\n"
        "  - {task: x, run: echo, to: {failure: y}}\n"
        "  - {task: y, run: echo, timeout: soon}\n"
        ""
    )

    assert [line.partition(" ")[0] for line in problems(text)] == ["5:35:"]

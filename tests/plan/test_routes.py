"""Where routes lead, what they can reach, and how often."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from stepsnb.plan import backward_routes, most_visits, position_of, reachable

from .pipelines import plan_of


def steps_of(*steps):
    return [node.step for node in plan_of(*steps).nodes]


def task(name, **more):
    return {"task": name, "run": name, **more}


def decides(name, *verdicts, **more):
    return {"agent": name, "prompt": "Decide.", "verdicts": list(verdicts), **more}


def test_a_route_leads_to_the_nearest_step_of_its_name_behind_it_or_else_before_it():
    names = ["a", "b", "a", "c", "a"]

    assert position_of(names, "a", 0) == 2
    assert position_of(names, "a", 2) == 4
    assert position_of(names, "a", 4) == 4
    assert position_of(names, "b", 3) == 1
    assert position_of(names, "next", 1) == 2


def test_without_routes_every_step_follows():
    assert reachable(steps_of(task("a"), task("b"), task("c"))) == {0, 1, 2}


def test_a_step_that_every_route_passes_is_not_reached():
    steps = steps_of(task("a", to={"success": "c"}), task("b"), task("c"))

    assert reachable(steps) == {0, 2}


def test_a_failure_route_is_a_way():
    steps = steps_of(task("a", to={"success": "c", "failure": "b"}), task("b"), task("c"))

    assert reachable(steps) == {0, 1, 2}


def test_a_verdict_without_a_target_goes_on_in_order():
    passing = steps_of(decides("writer", {"yes": "c"}, {"no": "c"}), task("b"), task("c"))
    going_on = steps_of(decides("writer", {"yes": "c"}, "no"), task("b"), task("c"))
    failing = steps_of(decides("writer", {"yes": "c"}, {"failure": "b"}), task("b"), task("c"))

    assert reachable(passing) == {0, 2}
    assert reachable(going_on) == {0, 1, 2}
    assert reachable(failing) == {0, 1, 2}


def test_a_guard_that_skips_a_step_skips_its_routes():
    steps = steps_of(task("a", to={"success": "c"}, when="false"), task("b"), task("c"))

    assert reachable(steps) == {0, 1, 2}


def test_nothing_is_reached_in_an_empty_list():
    assert reachable([]) == frozenset()


def test_routes_that_lead_back_are_found():
    steps = steps_of(task("a"), task("b", to={"failure": "a"}, max_visits=3), task("c", to={"success": "next"}))

    assert backward_routes(steps) == (1,)


@st.composite
def routed(draw):
    count = draw(st.integers(1, 6))
    names = [f"t{index}" for index in range(count)]
    steps = []
    for index, name in enumerate(names):
        targets = {}
        for outcome in ("success", "failure"):
            if draw(st.booleans()):
                targets[outcome] = draw(st.sampled_from([*names, "next"]))
        step = {"task": name, "run": name}
        if targets:
            step["to"] = targets
        if any(target != "next" and int(target[1:]) <= index for target in targets.values()):
            step["max_visits"] = draw(st.integers(1, 4))  # else the pipeline does not load
        steps.append(step)
    return steps


@settings(deadline=None)
@given(plan=routed(), data=st.data())
def test_a_walk_along_bounded_routes_ends_within_its_bound(plan, data):
    steps = steps_of(*plan)
    names = [step.name for step in steps]
    bound = most_visits(steps)
    assert bound is not None, json.dumps(plan)

    position, walked, visits = 0, [], [0] * len(steps)
    while position < len(steps):
        visits[position] += 1
        limit = steps[position].max_visits
        if limit is not None and visits[position] > limit:
            break
        walked.append(position)
        to = steps[position].to
        ways = [to.success or "next", *([to.failure] if to.failure else [])] if to else ["next"]
        target = data.draw(st.sampled_from(ways))
        position = position_of(names, target, position)

    assert len(walked) <= bound
    assert set(walked) <= reachable(steps)


def test_a_way_back_without_a_bound_has_none():
    step = steps_of(task("a", to={"failure": "a"}, max_visits=1))[0]

    assert most_visits([step.model_copy(update={"max_visits": None})]) is None
    assert most_visits([step]) == 2
    assert most_visits([]) == 0

"""Whether the routes of a plan lead somewhere: to a step of the same list, between the same two gets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..suggest import unknown_name
from .concept import Complaint
from .plan_reader import ReadStep
from .steps import AgentStep, EnsembleStep
from .steps.routes import NEXT
from .tree import Path

Found = tuple[ReadStep, Complaint]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a step goes on, and the place that says so."""

    at: Path
    target: str
    about: tuple[str, ...]


def routing_complaints(plan: Sequence[ReadStep], *, is_hook: bool = False) -> Iterator[Found]:
    """Yield the routes in a plan, and in the blocks and hooks of it, that lead nowhere.

    `is_hook` says that `plan` is a hook, which no step follows.
    """
    if is_hook:
        yield from (found for step in plan for found in _alone(step, "a hook"))
    else:
        yield from _in_order(plan)
    for step in plan:
        yield from _below(step)


def _below(step: ReadStep) -> Iterator[Found]:
    if step.kind == "do":
        yield from _in_order(step.inside)
    elif step.kind in ("in_parallel", "race"):
        for branch in step.inside:
            yield from _alone(branch, f"a branch of `{step.kind}:`")
    for key, hook in step.hooks.items():
        yield from _alone(hook, f"the hook `{key}:`")
    for each in (*step.inside, *step.hooks.values()):
        yield from _below(each)


def _in_order(steps: Sequence[ReadStep]) -> Iterator[Found]:
    """Yield the wrong routes between steps that follow one another."""
    names = [each.name if each.kind in _NAMED else _name_in_try(each) for each in steps]
    gets = [position for position, each in enumerate(steps) if any(below.kind == "get" for below in each.walk())]
    for position, each in enumerate(steps):
        step = _routed(each)
        if names[position] == NEXT and step.kind is not None:
            text = f"`{NEXT}` is what routes call the step that follows; give the step another name"
            yield step, Complaint((step.kind,), text)
        routes = list(_routes_of(step))
        for route in routes:
            problem = _problem(route, position, names, gets)
            if problem is not None:
                yield step, Complaint(route.at, problem, route.about)
            elif route.target != NEXT and names.index(route.target) <= position and _max_visits(step) is None:
                text = f"the route to `{route.target}` goes back, which could repeat without end; add `max_visits:`"
                yield step, Complaint(route.at, text, (*route.about, "max_visits"))
        if _max_visits(step) is not None and not routes and not _is_target(names[position], position, steps):
            text = "`max_visits:` does nothing, as no route begins or ends here; remove it"
            yield step, Complaint(("max_visits",), text, _ROUTE_KEYS)


_NAMED = frozenset({"task", "agent", "put", "get", "load_var", "approval"})
_ROUTE_KEYS = ("to", "verdicts", "ensemble", "this")


def _max_visits(step: ReadStep) -> int | None:
    visits: int | None = getattr(step.step, "max_visits", None)
    return visits


def _is_target(name: str | None, position: int, steps: Sequence[ReadStep]) -> bool:
    return any(
        route.target == name
        for other, each in enumerate(steps)
        if other != position
        for route in _routes_of(_routed(each))
    )


def _problem(route: Route, position: int, names: Sequence[str | None], gets: Sequence[int]) -> str | None:
    if route.target == NEXT:
        return None
    places = [index for index, name in enumerate(names) if name == route.target]
    if not places:
        known = [name for index, name in enumerate(names) if name is not None and index not in gets]
        return unknown_name("step", route.target, {*known, NEXT}) + "; a route leads to a step of the same list"
    if len(places) > 1:
        return f"two steps here are called `{route.target}`, so the route has no one target; give one another name"
    [target] = places
    if target in gets:
        return f"`{route.target}` gets a version, which stays the same all run; route to a step after it"
    passed = [names[index] for index in gets if min(position, target) <= index <= max(position, target)]
    if passed:
        get = f"the get `{passed[0]}`" if passed[0] else "a block with a get in it"
        return f"the route to `{route.target}` passes {get}; route to a step on this side of it"
    return None


def _alone(step: ReadStep, where: str) -> Iterator[Found]:
    """Refuse the routes of a step that no other follows."""
    step = _routed(step)
    for route in _routes_of(step):
        text = f"{where} is followed by no step to route to; put it into a `do:`, or route from the block"
        yield step, Complaint(route.at, text, route.about)


def _routed(step: ReadStep) -> ReadStep:
    """Return the step whose routes count: that inside a `try:`."""
    while step.kind == "try" and step.inside:
        [step] = step.inside
    return step


def _name_in_try(step: ReadStep) -> str | None:
    inside = _routed(step)
    return inside.name if inside is not step and inside.kind in _NAMED else None


def _routes_of(read: ReadStep) -> Iterator[Route]:
    step = read.step
    to = getattr(step, "to", None)
    if to is not None and "to" not in read.bad:
        for key in ("success", "failure"):
            if getattr(to, key) is not None:
                yield Route(("to", key), getattr(to, key), ("to",))
    if isinstance(step, AgentStep) and "verdicts" not in read.bad:
        for index, entry in enumerate(step.entries or ()):
            if entry.target is not None:
                yield Route(("verdicts", index, entry.name), entry.target, ("verdicts",))
    if isinstance(step, EnsembleStep) and "ensemble" not in read.bad:
        for index, entry in enumerate(step.block.entries):
            if entry.target is not None:
                yield Route(("ensemble", "verdicts", index, entry.name), entry.target, ("ensemble",))

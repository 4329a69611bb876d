"""Where a list of steps can go on after each of them."""

from collections.abc import Iterator, Sequence

from ..config import FAILURE, NEXT, AgentStep, DoStep, EnsembleStep, InParallelStep, PutStep, RaceStep, Step, TaskStep


def position_of(names: Sequence[str], target: str, position: int) -> int:
    """Return where a route from `position` leads: to the nearest step of that name behind it, else before it.

    `next`, and a name that no step has, go on in order.
    """
    if target == NEXT or target not in names:
        return position + 1
    places = [place for place, name in enumerate(names) if name == target]
    return next((place for place in places if place > position), places[-1])


def targets_of(step: Step) -> Iterator[str]:
    """Yield the names a step can be followed by, `next` among them, whatever its outcome."""
    if step.when is not None:
        yield NEXT
    if isinstance(step, EnsembleStep | AgentStep) and step.verdicts:
        yield from (step.routes.get(verdict, NEXT) for verdict in step.verdicts)
        if FAILURE in step.routes:
            yield step.routes[FAILURE]
    elif isinstance(step, TaskStep | AgentStep | PutStep | DoStep | InParallelStep | RaceStep) and step.to is not None:
        yield step.to.success or NEXT
        if step.to.failure is not None:
            yield step.to.failure
    else:
        yield NEXT


def reachable(steps: Sequence[Step]) -> frozenset[int]:
    """Return the positions of the steps that the first one can lead to, itself included."""
    names = [step.name for step in steps]
    found: set[int] = set()
    ahead = [0] if steps else []
    while ahead:
        position = ahead.pop()
        if position not in found and position < len(steps):
            found.add(position)
            ahead += [position_of(names, target, position) for target in targets_of(steps[position])]
    return frozenset(found)


def backward_routes(steps: Sequence[Step]) -> tuple[int, ...]:
    """Return the positions of the steps that can lead to themselves or to one before them."""
    names = [step.name for step in steps]
    return tuple(
        position
        for position, step in enumerate(steps)
        if any(position_of(names, target, position) <= position for target in targets_of(step))
    )


def most_visits(steps: Sequence[Step]) -> int | None:
    """Return how many steps can run at most; None when a route leads back without a bound.

    Between two turns back every step runs once at most, and each turn back is a visit of a step that bounds them.
    """
    turns = 0
    for position in backward_routes(steps):
        bound = getattr(steps[position], "max_visits", None)
        if bound is None:
            return None
        turns += bound
    return len(steps) * (1 + turns)

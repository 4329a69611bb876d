"""Jobs that wait for each other: a version that must have passed one before the other, and the other before the one."""

from collections.abc import Iterator, Mapping, Sequence

from .concept import Complaint
from .plan_reader import ReadStep
from .steps import GetStep

_Waits = dict[str, dict[str, tuple[ReadStep, int]]]
"""For each job the jobs it waits for, each with the place that says so."""


def circle_complaints(plans: Mapping[str, Sequence[ReadStep]]) -> Iterator[tuple[ReadStep, Complaint]]:
    """Yield each circle of `passed:` once, at the entry that closes it."""
    waits = {job: _waits_of(job, steps) for job, steps in plans.items()}
    told: set[frozenset[str]] = set()
    for job, others in waits.items():
        for other, (step, index) in others.items():
            way = _way(other, job, waits)
            if way is not None and frozenset(way) not in told:
                told.add(frozenset(way))
                chain = " -> ".join([job, *way])
                text = f"the jobs wait for each other, so none would ever run: {chain}; remove one of these `passed:`"
                yield step, Complaint(("passed", index), text, ("passed",))


def _waits_of(job: str, steps: Sequence[ReadStep]) -> dict[str, tuple[ReadStep, int]]:
    found: dict[str, tuple[ReadStep, int]] = {}
    for each in (below for step in steps for below in step.walk()):
        for index, name in enumerate(each.step.passed if isinstance(each.step, GetStep) else ()):
            if name != job:
                found.setdefault(name, (each, index))
    return found


def _way(start: str, goal: str, waits: _Waits) -> list[str] | None:
    """Return a way from `start` to `goal` along what jobs wait for, both included."""
    before: dict[str, str | None] = {start: None}
    ahead = [start]
    while ahead:
        job = ahead.pop(0)
        if job == goal:
            way: list[str] = []
            at: str | None = job
            while at is not None:
                way.append(at)
                at = before[at]
            return way[::-1]
        for other in waits.get(job, {}):
            if other not in before:
                before[other] = job
                ahead.append(other)
    return None

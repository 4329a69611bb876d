"""Which steps of a plan decide something, and whether those who read a decision name one that there is."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..suggest import unknown_name
from .concept import Complaint
from .steps import AgentStep, GetStep, Step


class PlanEntry(NamedTuple):
    """One entry of a plan: its name as written, what was built of it, and the keys of it that are in error."""

    name: str | None
    step: Step | None
    bad: frozenset[str]


def decision_complaints(plan: Sequence[PlanEntry], *, is_whole: bool) -> Iterator[tuple[int, Complaint]]:
    """Yield the wrong entries of `context.from`, each with the position of its step.

    `is_whole` says that the plan is all there is; a cell of steps may read what an earlier cell decided.
    """
    for index, (_, step, _) in enumerate(plan):
        if step is None or isinstance(step, GetStep) or step.context is None:
            continue
        others = [each for position, each in enumerate(plan) if position != index and each.name is not None]
        for name in step.context.from_:
            text = _problem(name, step, others, is_whole=is_whole)
            if text is not None:
                yield index, Complaint(("context", "from", name), text)


def _problem(name: str, reader: Step, others: Sequence[PlanEntry], *, is_whole: bool) -> str | None:
    senders = [each for each in others if each.name == name]
    if any(_may_decide(each) for each in senders):
        return None
    if senders:
        return f"step `{name}` decides nothing; list its `verdicts:`, or hand a file over with `outputs:`"
    if not is_whole:
        return None
    if name == reader.name:
        return "a step cannot read its own decision; name a step of this job that declares `verdicts:`"
    deciding = {each.name for each in others if each.name is not None and _may_decide(each)}
    return unknown_name("step with `verdicts:`", name, deciding)


def _may_decide(entry: PlanEntry) -> bool:
    if entry.step is None or "verdicts" in entry.bad:
        return True
    return isinstance(entry.step, AgentStep) and bool(entry.step.verdicts)

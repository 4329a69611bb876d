"""Which steps of a plan decide something, and whether those who read a decision name one that there is."""

from collections.abc import Iterator, Sequence

from ..suggest import unknown_name
from .concept import Complaint
from .plan_reader import ReadStep
from .steps import AgentStep, TaskStep


def decision_complaints(plan: Sequence[ReadStep], *, is_whole: bool) -> Iterator[tuple[ReadStep, Complaint]]:
    """Yield the wrong entries of `context.from`, each with its step; `plan` has every step, nested ones included.

    `is_whole` says that the plan is all there is; a cell of steps may read what an earlier cell decided.
    """
    voters = {id(member) for each in plan if each.kind == "ensemble" for member in each.inside}
    for reader in plan:
        if not isinstance(reader.step, TaskStep | AgentStep) or reader.step.context is None:
            continue
        others = [each for each in plan if each is not reader and each.name is not None and each.kind != "try"]
        for name in reader.step.context.from_:
            text = _problem(name, reader, others, voters, is_whole=is_whole)
            if text is not None:
                yield reader, Complaint(("context", "from", name), text)


def _problem(
    name: str, reader: ReadStep, others: Sequence[ReadStep], voters: set[int], *, is_whole: bool
) -> str | None:
    senders = [each for each in others if each.name == name]
    if any(_may_decide(each, voters) for each in senders):
        return None
    if senders:
        return f"step `{name}` decides nothing; list its `verdicts:`, or hand a file over with `outputs:`"
    if not is_whole:
        return None
    if name == reader.name:
        return "a step cannot read its own decision; name a step of this job that declares `verdicts:`"
    deciding = {each.name for each in others if each.name is not None and _may_decide(each, voters)}
    return unknown_name("step with `verdicts:`", name, deciding)


def _may_decide(read: ReadStep, voters: set[int]) -> bool:
    if read.step is None or "verdicts" in read.bad or id(read) in voters:
        return True
    return isinstance(read.step, AgentStep) and bool(read.step.verdicts)

"""The rules that hold between the steps of a plan, each problem reported at its own place."""

from collections.abc import Collection, Mapping, Sequence

from .artifact_flow import check_artifacts
from .concept import Complaint
from .concept_reader import report
from .decision_flow import decision_complaints
from .plan_reader import ReadStep
from .problems import Problems
from .references import Names
from .routing import routing_complaints
from .steps import Step
from .tree import Entries, Items, Scalar, Tree


def check_plan(
    steps: Sequence[ReadStep],
    problems: Problems,
    names: Names,
    *,
    job: str | None,
    available: frozenset[str] | None,
    is_hook: bool = False,
) -> frozenset[str] | None:
    """Report what is wrong between the steps of a plan; returns the artifacts that are there after it.

    `available` are artifacts that are there before the first step; None leaves inputs unchecked, as an earlier cell
    may have made them. `is_hook` says that the one step is a hook, which no other follows.
    """
    every = [below for each in steps for below in each.walk()]
    for each in every:
        check_step(each, problems, names, job=job)
    found = (*decision_complaints(every, is_whole=available is not None), *routing_complaints(steps, is_hook=is_hook))
    for each, complaint in found:
        if each.bad.isdisjoint(complaint.about):
            _report(each, complaint, problems)
    return None if available is None else _check_flow(steps, every, problems, available)


def check_hooks(
    hooks: Mapping[str, ReadStep],
    problems: Problems,
    names: Names,
    *,
    job: str | None,
    available: Collection[str],
) -> None:
    """Report what is wrong with the hooks of a job; `available` is what its plan may have made."""
    for hook in hooks.values():
        check_plan([hook], problems, names, job=job, available=frozenset(available), is_hook=True)


def check_step(read: ReadStep, problems: Problems, names: Names, *, job: str | None = None) -> None:
    """Report the references of one step that lead nowhere; what an entry of `tasks:` says is that entry's to answer."""
    if read.step is None:
        return
    inherited = {"fix"} - (read.raw.keys() if isinstance(read.raw, Entries) else set())
    for complaint in names.complaints(read.step, job):
        if (read.bad | inherited).isdisjoint(complaint.about):
            _report(read, complaint, problems)


def _check_flow(
    steps: Sequence[ReadStep], every: Sequence[ReadStep], problems: Problems, available: frozenset[str]
) -> frozenset[str]:
    perhaps = {name for each in every if each.bad for name in _outputs(each.raw)}
    places: dict[int, ReadStep] = {id(each.step): each for each in every if each.step is not None}
    sound: list[Step] = [each.step for each in steps if each.step is not None]
    flow = check_artifacts(sound, available | perhaps)
    for unmet in flow.unmet:
        read = places[id(unmet.step)]
        if read.bad.isdisjoint(unmet.about):
            _report(read, Complaint(unmet.at, unmet.text), problems)
    return flow.made


def _report(read: ReadStep, complaint: Complaint, problems: Problems) -> None:
    report(complaint, read.raw, read.path, problems)


def _outputs(raw: Tree) -> list[str]:
    """Return what a step with errors in it, or the steps inside it, would probably have made."""
    found: list[str] = []
    if isinstance(raw, Entries):
        for key in ("outputs", "get"):
            made = raw.get(key)
            found += [each.text for each in (made if isinstance(made, Items) else [made]) if isinstance(each, Scalar)]
        mapping = raw.get("output_mapping")
        if isinstance(mapping, Entries):
            found += [each.text for each in mapping.values() if isinstance(each, Scalar)]
    for below in raw.values() if isinstance(raw, Entries) else raw if isinstance(raw, Items) else ():
        found += _outputs(below)
    return found

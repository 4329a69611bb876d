"""A pipeline's tree to its models, section by section, so that one broken entry hides no problem of another."""

from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import TypeVar

from ..suggest import nearest
from .agent import Agent
from .artifact_flow import FILES_ARTIFACT, check_artifacts
from .concept import Concept
from .concept_reader import Built, read_concept, report
from .decision_flow import PlanEntry, decision_complaints
from .delegation import delegation_complaints
from .job import Job
from .labels import LISTS, step_kinds
from .pipeline import Pipeline
from .problems import Problems
from .references import Names, check_models, duplicates
from .resource import Resource
from .steps import AgentStep, GetStep, Step, TaskStep
from .tree import Entries, Items, Path, Scalar, Tree, descend
from .unsupported import STEP_KINDS as UNSUPPORTED_KINDS
from .wording import not_supported, shape

_KINDS: dict[str, type[TaskStep | AgentStep | GetStep]] = {"task": TaskStep, "agent": AgentStep, "get": GetStep}

_AnyConcept = TypeVar("_AnyConcept", bound=Concept)


def read_document(root: Entries, problems: Problems, *, file: str, base_dir: FilePath, text: str) -> Pipeline | None:
    """Build the pipeline `root` describes; None when it cannot be built, complete only when there is no problem."""
    agents = [read_concept(Agent, raw, path, problems) for path, raw in _entries(root, "agents")]
    resources = [read_concept(Resource, raw, path, problems) for path, raw in _entries(root, "resources")]
    names = Names(_by_name(agents, root, "agents"), _by_name(resources, root, "resources"))
    jobs = [_read_job(raw, path, problems, names) for path, raw in _entries(root, "jobs")]
    judged = [None if "tools" in entry.bad else entry.model for entry in agents]
    delegations = delegation_complaints(judged, names.agents)
    for complaint in (*duplicates(root, LISTS), *check_models(root), *delegations):
        report(complaint, root, (), problems)
    given: dict[str, object] = {"file": file, "base_dir": base_dir, "source_text": text}
    broken: set[str] = set()
    built: dict[str, Sequence[Built[Agent] | Built[Resource] | Built[Job]]]
    built = {"agents": agents, "resources": resources, "jobs": jobs}
    for section, entries in built.items():
        if isinstance(root.get(section), Items):
            given[section] = tuple(entry.model for entry in entries if entry.model is not None)
        if any(entry.model is None for entry in entries):
            broken.add(section)
    return read_concept(Pipeline, root, (), problems, given=given, broken=frozenset(broken)).model


def read_plan(
    plan: Items, path: Path, problems: Problems, names: Names, *, available: frozenset[str] | None
) -> list[Step | None]:
    """Build the steps of a plan, None for each that cannot be built, and check what they refer to.

    `available` are artifacts that are there before the first step; None leaves inputs unchecked.
    """
    built = [_read_step(raw, (*path, index), problems) for index, raw in enumerate(plan)]
    sound = [(index, step, bad) for index, (step, bad) in enumerate(built) if step is not None]
    for index, step, bad in sound:
        for complaint in names.complaints(step):
            if bad.isdisjoint(complaint.about):
                report(complaint, plan[index], (*path, index), problems)
    entries = [PlanEntry(_name(raw), step, bad) for raw, (step, bad) in zip(plan, built, strict=True)]
    for index, complaint in decision_complaints(entries, is_whole=available is not None):
        report(complaint, plan[index], (*path, index), problems)
    if available is not None:
        perhaps = {name for raw, each in zip(plan, built, strict=True) if each.bad for name in _outputs(raw)}
        for unmet in check_artifacts([step for _, step, _ in sound], available | perhaps):
            found, followed = descend(plan, (sound[unmet.index][0], "inputs", unmet.position))
            problems.add(found.mark, path + followed, unmet.text)
    return [step for step, _ in built]


def _read_job(raw: Tree, path: Path, problems: Problems, names: Names) -> Built[Job]:
    plan = raw.get("plan") if isinstance(raw, Entries) else None
    if not isinstance(plan, Items):
        return read_concept(Job, raw, path, problems)
    steps = read_plan(plan, (*path, "plan"), problems, names, available=frozenset({FILES_ARTIFACT}))
    given = {"plan": tuple(step for step in steps if step is not None)}
    return read_concept(Job, raw, path, problems, given=given, broken=frozenset({"plan"} if None in steps else ()))


def _read_step(raw: Tree, path: Path, problems: Problems) -> Built[TaskStep | AgentStep | GetStep]:
    kinds = step_kinds(raw)
    if isinstance(raw, Entries) and len(kinds) == 1 and kinds[0] in _KINDS:
        given = {"where": problems.where(raw.mark)}
        return read_concept(_KINDS[kinds[0]], raw, path, problems, given=given)
    mark = raw.mark
    if not isinstance(raw, Entries):
        text = f"a step must be a mapping such as `task: NAME`, not {shape(raw)}; write its keys"
    elif not kinds:
        text = _no_kind(raw)
    elif len(kinds) > 1:
        named = " and ".join(f"`{kind}:`" for kind in kinds)
        text = f"names both {named}; a step is exactly one kind, so split it in two"
    else:
        text = not_supported(f"`{kinds[0]}:`", UNSUPPORTED_KINDS[kinds[0]])
        mark = raw.key_marks[kinds[0]]
    problems.add(mark, path, text)
    return Built(None, frozenset({"this"}))


def _no_kind(raw: Entries) -> str:
    for key in raw:
        if meant := nearest(key, _KINDS):
            return f"unknown step kind `{key}` (did you mean `{meant}`?); available: {', '.join(sorted(_KINDS))}"
    return f"names no step kind; give one of {', '.join(f'`{kind}:`' for kind in _KINDS)}"


def _name(raw: Tree) -> str | None:
    kinds = step_kinds(raw)
    return raw.text(kinds[0]) if isinstance(raw, Entries) and len(kinds) == 1 else None


def _outputs(raw: Tree) -> Iterator[str]:
    """Yield what a step with errors in it, or the steps inside it, would probably have made."""
    if isinstance(raw, Entries):
        for key in ("outputs", "get"):
            made = raw.get(key)
            yield from (each.text for each in (made if isinstance(made, Items) else [made]) if isinstance(each, Scalar))
    for below in raw.values() if isinstance(raw, Entries) else raw if isinstance(raw, Items) else ():
        yield from _outputs(below)


def _entries(root: Entries, section: str) -> list[tuple[Path, Tree]]:
    items = root.get(section)
    return [((section, index), raw) for index, raw in enumerate(items)] if isinstance(items, Items) else []


def _by_name(entries: list[Built[_AnyConcept]], root: Entries, section: str) -> dict[str, Built[_AnyConcept]]:
    """Map the names written in a list to what was built; the first entry of a name counts."""
    named: dict[str, Built[_AnyConcept]] = {}
    for (_, raw), built in zip(_entries(root, section), entries, strict=True):
        name = raw.text("name") if isinstance(raw, Entries) else None
        if name is not None:
            named.setdefault(name, built)
    return named

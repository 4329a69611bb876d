"""A pipeline's tree to its models, section by section, so that one broken entry hides no problem of another."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

from ..errors import ConfigError
from .agent import Agent, AgentDocument
from .artifact_flow import FILES_ARTIFACT
from .concept import Concept
from .concept_reader import Built, read_concept, report
from .delegation import delegation_complaints
from .includes import Includes
from .job import Job
from .job_order import circle_complaints
from .labels import LISTS
from .mcp_server import McpServer
from .pipeline import Pipeline
from .plan_checks import check_hooks, check_plan
from .plan_reader import ReadStep, StepReader, given_by
from .problems import Problems
from .profiles import profile_of
from .reader import read_tree
from .references import (
    Names,
    check_models,
    duplicates,
    has_default_model,
    resources_of,
    server_complaints,
    type_complaints,
    with_profiles,
)
from .resource import Resource
from .resource_type import ResourceType
from .task_entry import TaskDocument, TaskEntry
from .tree import Entries, Items, Path, Tree
from .wording import shape

_AnyConcept = TypeVar("_AnyConcept", bound=Concept)
_Any = TypeVar("_Any")
_Shared = TypeVar("_Shared", Agent, TaskEntry)


def read_document(root: Entries, problems: Problems, includes: Includes, given: dict[str, Any]) -> Pipeline | None:
    """Build the pipeline `root` describes; None when it cannot be built, complete only when there is no problem.

    `given` are its fields that are no sections.
    """
    types = [read_concept(ResourceType, raw, path, problems) for path, raw in _entries(root, "resource_types")]
    servers = [read_concept(McpServer, raw, path, problems) for path, raw in _entries(root, "mcp_servers")]
    resources = [read_concept(Resource, raw, path, problems) for path, raw in _entries(root, "resources")]
    agents = [_read_shared(Agent, AgentDocument, *each, problems, includes) for each in _entries(root, "agents")]
    tasks = [_read_task(*each, problems, includes) for each in _entries(root, "tasks")]
    reader = StepReader(problems, includes, _named(tasks, root, "tasks"))
    plans = [_read_plan(raw, path, reader) for path, raw in _entries(root, "jobs")]
    by_job = {name: steps for name, (steps, _) in _named(plans, root, "jobs").items()}
    names = Names(
        agents=with_profiles(_named(agents, root, "agents"), has_model=has_default_model(root)),
        resources=_named(resources, root, "resources"),
        types=_named(types, root, "resource_types"),
        jobs={name: resources_of(steps) for name, steps in by_job.items()},
    )
    jobs = [
        _read_job(raw, path, *plan, problems) for (path, raw), plan in zip(_entries(root, "jobs"), plans, strict=True)
    ]
    for (path, _), (steps, hooks) in zip(_entries(root, "jobs"), plans, strict=True):
        available = frozenset({FILES_ARTIFACT})
        made = check_plan(steps, problems, names, job=_job_name(root, path), available=available)
        check_hooks(hooks, problems, names, job=_job_name(root, path), available=made or available)
    for step, complaint in circle_complaints(by_job):
        report(complaint, step.raw, step.path, problems)
    _check_entries(root, problems, names, agents, tasks, types)
    built: dict[str, Sequence[Built[Any]]]
    built = {
        "resource_types": types,
        "resources": resources,
        "mcp_servers": servers,
        "agents": agents,
        "tasks": tasks,
        "jobs": jobs,
    }
    broken: set[str] = set()
    for section, entries in built.items():
        if isinstance(root.get(section), Items):
            given[section] = tuple(entry.model for entry in entries if entry.model is not None)
        if any(entry.model is None for entry in entries):
            broken.add(section)
    return read_concept(Pipeline, root, (), problems, given=given, broken=frozenset(broken)).model


def _check_entries(
    root: Entries,
    problems: Problems,
    names: Names,
    agents: Sequence[Built[Agent]],
    tasks: Sequence[Built[TaskEntry]],
    types: Sequence[Built[ResourceType]],
) -> None:
    servers = frozenset(_named([*_entries(root, "mcp_servers")], root, "mcp_servers"))
    judged = [None if "tools" in entry.bad else entry.model for entry in agents]
    complaints = (
        *duplicates(root, LISTS),
        *check_models(root, agents),
        *server_complaints(judged, servers),
        *type_complaints([None if "mcp" in entry.bad else entry.model for entry in types], servers),
        *delegation_complaints(judged, names.agents),
        *names.entry_complaints(root, tasks),
    )
    for complaint in complaints:
        report(complaint, root, (), problems)


def _read_plan(raw: Tree, path: Path, reader: StepReader) -> tuple[tuple[ReadStep, ...], dict[str, ReadStep]]:
    plan = raw.get("plan") if isinstance(raw, Entries) else None
    steps = reader.read_list(plan, (*path, "plan")) if isinstance(plan, Items) else ()
    return steps, reader.read_hooks(raw, path)


def _read_job(
    raw: Tree, path: Path, steps: Sequence[ReadStep], hooks: Mapping[str, ReadStep], problems: Problems
) -> Built[Job]:
    given: dict[str, Any] = {key: hook.step for key, hook in hooks.items() if hook.step is not None}
    broken = {key for key, hook in hooks.items() if hook.step is None}
    if isinstance(raw, Entries) and isinstance(raw.get("plan"), Items):
        given["plan"] = tuple(each.step for each in steps if each.step is not None)
        broken.update({"plan"} if len(given["plan"]) < len(steps) else ())
    return read_concept(Job, raw, path, problems, given=given, broken=frozenset(broken))


def _read_task(path: Path, raw: Tree, problems: Problems, includes: Includes) -> Built[TaskEntry]:
    built = _read_shared(TaskEntry, TaskDocument, path, raw, problems, includes)
    if built.model is None or built.model.run or "run" in built.bad:
        return built
    text = "`run:` is missing; write the shell program, or name a file with `run_file:` or `file:`"
    problems.add(raw.mark, path, text)
    return Built(built.model, built.bad | {"run"})


def _read_shared(
    concept: type[_Shared],
    document: type[AgentDocument] | type[TaskDocument],
    path: Path,
    raw: Tree,
    problems: Problems,
    includes: Includes,
) -> Built[_Shared]:
    """Read an entry that may take keys from a file of its own; those that stand in the entry win."""
    if not isinstance(raw, Entries):
        return read_concept(concept, raw, path, problems)
    raw, broken = includes.fold(str(path[0]), raw, path)
    given: dict[str, Any] = {}
    if concept is Agent and (profile := profile_of(raw.text("name") or "")) is not None:
        given = {key: value for key, value in given_by(profile).items() if key not in raw}
    if "file" in raw:
        loaded = _read_file(document, raw, path, problems, includes)
        broken |= (concept.keys() if loaded.model is None else loaded.bad) - raw.keys()
        said = given_by(loaded.model) if loaded.model is not None else {}
        given |= {key: value for key, value in said.items() if key not in raw or (key == "privileged" and value)}
    return read_concept(concept, raw, path, problems, given=given, broken=broken)


def _read_file(
    document: type[_AnyConcept], raw: Entries, path: Path, problems: Problems, includes: Includes
) -> Built[_AnyConcept]:
    nothing: Built[_AnyConcept] = Built(None, frozenset())
    found = includes.read(raw["file"], "file", path)
    if found is None:
        return nothing
    name, text = found
    own = Problems(str(PurePath(problems.file).parent / name))
    try:
        root = read_tree(text, own, includes.values).root
    except ConfigError:
        problems.adopt(own)
        return nothing
    if isinstance(root, Entries):
        nothing = read_concept(document, root, (), own)
    else:
        own.add(root.mark, (), f"must be a mapping, not {shape(root)}; write `key: value` lines")
    problems.adopt(own)
    return nothing


def _job_name(root: Entries, path: Path) -> str | None:
    job = dict(_entries(root, "jobs"))[path]
    return job.text("name") if isinstance(job, Entries) else None


def _entries(root: Entries, section: str) -> list[tuple[Path, Tree]]:
    items = root.get(section)
    return [((section, index), raw) for index, raw in enumerate(items)] if isinstance(items, Items) else []


def _named(entries: Sequence[_Any], root: Entries, section: str) -> dict[str, _Any]:
    """Map the names written in a list to what was made of them; the first entry of a name counts."""
    named: dict[str, _Any] = {}
    for (_, raw), made in zip(_entries(root, section), entries, strict=True):
        name = raw.text("name") if isinstance(raw, Entries) else None
        if name is not None:
            named.setdefault(name, made)
    return named

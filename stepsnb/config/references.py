"""Names that refer to something else: agents, resources, jobs, tools; each must exist, none stands for two things."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..suggest import unknown_name
from .agent import PROFILES, Agent
from .concept import Complaint
from .concept_reader import Built
from .fix import FixSpec
from .grants import AgentGrant, McpGrant, server_complaint
from .pipeline import Pipeline
from .plan_reader import ReadStep
from .profiles import profile_agents
from .resource import BUILT_IN_TYPES, GIT_PARAMS, VERSION_KEYS, Resource
from .resource_type import ResourceType
from .selection import tool_complaints
from .source import Source
from .steps import AgentStep, EnsembleStep, GetStep, PutStep, Step, TaskStep
from .task_entry import TaskEntry
from .tree import Entries, Items, Path


@dataclass(frozen=True, slots=True)
class Names:
    """What steps may refer to; entries with errors count, so that a mistake is reported once.

    `jobs` has the resources that the plan of each job gets and puts.
    """

    agents: Mapping[str, Built[Agent]]
    resources: Mapping[str, Built[Resource]]
    types: Mapping[str, Built[ResourceType]] = field(default_factory=dict)
    jobs: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def complaints(self, step: Step, job: str | None) -> Iterator[Complaint]:
        """Yield the references of `step`, which belongs to `job`, that lead nowhere."""
        match step:
            case GetStep():
                yield from self._resource_complaints(step)
                yield from self._passed_complaints(step, job)
            case PutStep():
                yield from self._resource_complaints(step)
            case AgentStep():
                if step.agent not in self.agents:
                    yield Complaint(("agent",), unknown_agent(step.agent, self.agents))
                    return
                agent, bad = self.agents[step.agent]
                if agent is not None and "tools" not in bad:
                    yield from tool_complaints(step, agent)
            case TaskStep() if step.fix is not None:
                yield from self._fix_complaints(step.fix, ("fix",))
            case EnsembleStep() if step.judge is not None and step.judge not in self.agents:
                rules = "; or a rule: `majority`, `unanimous`, `any`"
                yield Complaint(("ensemble", "decide"), unknown_agent(step.judge, self.agents) + rules, ("ensemble",))

    def entry_complaints(self, root: Entries, tasks: Sequence[Built[TaskEntry]]) -> Iterator[Complaint]:
        """Yield what is wrong with entries of the pipeline's sections as they refer to one another."""
        for index, (task, bad) in enumerate(tasks):
            if task is not None and task.fix is not None and "fix" not in bad:
                yield from self._fix_complaints(task.fix, ("tasks", index, "fix"))
        known = BUILT_IN_TYPES.keys() | self.types.keys()
        for index, raw in enumerate(_items(root, "resources")):
            type_name = raw.text("type") if isinstance(raw, Entries) else None
            if type_name is not None and type_name not in known and type_name.strip():
                yield Complaint(("resources", index, "type"), unknown_name("resource type", type_name, known))
        for index, raw in enumerate(_items(root, "resource_types")):
            name = raw.text("name") if isinstance(raw, Entries) else None
            if name in BUILT_IN_TYPES:
                text = f"the resource type `{name}` is built in; give this one another name"
                yield Complaint(("resource_types", index, "name"), text)

    def _resource_complaints(self, step: GetStep | PutStep) -> Iterator[Complaint]:
        if step.resource not in self.resources:
            at = "resource" if "resource" in step.model_fields_set else step.kind
            yield Complaint((at,), unknown_name("resource", step.resource, self.resources), ("resource",))
            return
        resource, bad = self.resources[step.resource]
        if resource is None or "type" in bad:
            return
        if isinstance(step, GetStep) and resource.version is not None and "version" not in bad:
            yield from _pin_complaints(step)
        if resource.type in BUILT_IN_TYPES:
            yield from _built_in_complaints(step, resource.type)
            return
        kind, bad = self.types.get(resource.type, Built(None, frozenset()))
        if kind is None or not bad.isdisjoint({"config", "mcp"}):
            return
        needed = ("out",) if isinstance(step, PutStep) else ("check", "in")
        for key in needed:
            if key not in kind.verbs and key not in bad:
                text = f"resource type `{kind.name}` has no `{key}:`, which a {step.kind} needs; add it to the type"
                yield Complaint((step.kind,), text)

    def _passed_complaints(self, step: GetStep, job: str | None) -> Iterator[Complaint]:
        for index, name in enumerate(step.passed):
            at = ("passed", index)
            if name in step.passed[:index]:
                yield Complaint(at, f"`{name}` stands twice in `passed:`; keep one", ("passed",))
            elif name not in self.jobs:
                yield Complaint(at, unknown_name("job", name, self.jobs), ("passed",))
            elif name == job:
                text = f"a version cannot have passed job `{name}` before it; name an earlier job"
                yield Complaint(at, text, ("passed",))
            elif step.resource not in self.jobs[name]:
                text = f"job `{name}` neither gets nor puts `{step.resource}`; add it there, or name another job"
                yield Complaint(at, text, ("passed", "resource"))

    def _fix_complaints(self, fix: FixSpec, at: Path) -> Iterator[Complaint]:
        if fix.agent not in self.agents:
            yield Complaint((*at, "agent"), unknown_agent(fix.agent, self.agents), ("fix",))
            return
        agent, bad = self.agents[fix.agent]
        if agent is not None and agent.image_name is not None:
            text = f"agent `{agent.name}` sets `image:`, and a fix agent works where the task does; use another agent"
            yield Complaint((*at, "agent"), text, ("fix",))
        if agent is None or "tools" in bad:
            return
        for grant in agent.tools or ():
            if isinstance(grant, AgentGrant):
                text = f"agent `{agent.name}` has the sub-agent `{grant.agent}`, which a fix agent may not; remove it"
                yield Complaint((*at, "agent"), text, ("fix",))
            elif isinstance(grant, McpGrant):
                text = f"agent `{agent.name}` has tools of the MCP server `{grant.mcp}`, which a fix agent may not; "
                yield Complaint((*at, "agent"), f"{text}use another agent", ("fix",))
        for index, name in enumerate(fix.tools or ()):
            if name not in agent.tool_names:
                granted = ", ".join(sorted(agent.tool_names)) or "none"
                text = f"agent `{agent.name}` does not grant `{name}`; add it to its `tools:`; granted: {granted}"
                yield Complaint((*at, "tools", index), text, ("fix",))


def server_complaints(agents: Sequence[Agent | None], known: frozenset[str]) -> Iterator[Complaint]:
    """Yield the grants of agents that name an MCP server there is not; None stands for what cannot be judged."""
    for index, agent in enumerate(agents):
        for position, grant in enumerate((agent.tools if agent else None) or ()):
            if isinstance(grant, McpGrant) and (complaint := server_complaint(grant, known)):
                yield complaint._replace(at=("agents", index, "tools", position, *complaint.at))


def type_complaints(types: Sequence[ResourceType | None], known: frozenset[str]) -> Iterator[Complaint]:
    """Yield the resource types that name an MCP server there is not; None stands for what cannot be judged."""
    for index, kind in enumerate(types):
        if kind is not None and kind.mcp is not None and kind.mcp.server not in known:
            text = unknown_name("MCP server", kind.mcp.server, known)
            yield Complaint(("resource_types", index, "mcp", "server"), text)


def names_of(pipeline: Pipeline) -> Names:
    """Build the names of a pipeline that is loaded already."""
    nothing = frozenset[str]()
    return Names(
        with_profiles(
            {agent.name: Built(agent, nothing) for agent in pipeline.agents},
            has_model=pipeline.defaults.model is not None,
        ),
        {resource.name: Built(resource, nothing) for resource in pipeline.resources},
        {kind.name: Built(kind, nothing) for kind in pipeline.resource_types},
        {
            job.name: frozenset(
                each.resource for step in job.plan for each in step.walk() if isinstance(each, GetStep | PutStep)
            )
            for job in pipeline.jobs
        },
    )


def tasks_of(pipeline: Pipeline) -> dict[str, Built[TaskEntry]]:
    """Return the entries of `tasks:` by name."""
    return {task.name: Built(task, frozenset()) for task in pipeline.tasks}


def resources_of(steps: Iterable[ReadStep]) -> frozenset[str]:
    """Return the resources that a plan gets and puts, those of steps with errors as far as they can be told."""
    used: set[str] = set()
    for each in (below for step in steps for below in step.walk()):
        if isinstance(each.step, GetStep | PutStep):
            used.add(each.step.resource)
        elif each.kind in ("get", "put") and isinstance(each.raw, Entries):
            name = each.raw.text("resource") or each.raw.text(each.kind)
            used.update({name} if name else ())
    return frozenset(used)


def duplicates(root: Entries, sections: Mapping[str, str]) -> Iterator[Complaint]:
    """Yield the entries of the named lists whose name an earlier entry has; `sections` says what an entry is."""
    for section, kind in sections.items():
        lines: dict[str, int] = {}
        for index, entry in enumerate(_items(root, section)):
            name = entry.text("name") if isinstance(entry, Entries) else None
            if name is None:
                continue
            if name in lines:
                text = f"the name `{name}` is taken by the {kind} on line {lines[name]}; give each its own"
                yield Complaint((section, index, "name"), text)
            lines.setdefault(name, entry.mark.line)


def check_models(root: Entries, agents: Sequence[Built[Agent]]) -> Iterator[Complaint]:
    """Yield the agents that have no model, neither their own nor by default; `agents` is what was built of them."""
    if has_default_model(root):
        return
    for index, (raw, (agent, bad)) in enumerate(zip(_items(root, "agents"), agents, strict=False)):
        source = raw.get("source", Entries(raw.mark, ())) if isinstance(raw, Entries) else None
        if not isinstance(source, Entries) or "model" in source.keys() | Source.mistaken_keys(source):
            continue
        if (
            isinstance(raw, Entries)
            and "file" in raw
            and (agent is None or "source" in bad or agent.source.model is not None)
        ):
            continue
        text = "has no model; write `source: {model: PROVIDER/NAME}`, or `defaults: {model: …}` for every agent"
        yield Complaint(("agents", index, "source"), text)


def unknown_agent(name: str, known: Iterable[str]) -> str:
    """Say that there is no agent `name`."""
    if name in PROFILES:
        return f"agent `{name}` has no model; write `defaults: {{model: …}}`, or an entry of this name with a `source:`"
    return unknown_name("agent", name, {*known, *PROFILES} if name.startswith("@") else known)


def with_profiles(agents: Mapping[str, Built[Agent]], *, has_model: bool) -> Mapping[str, Built[Agent]]:
    """Add the built-in agents that have no entry of their own, where there is a model for them."""
    if not has_model:
        return agents
    return {**{agent.name: Built(agent, frozenset()) for agent in profile_agents()}, **agents}


def has_default_model(root: Entries) -> bool:
    """Whether `defaults:` names a model."""
    defaults = root.get("defaults")
    return isinstance(defaults, Entries) and "model" in defaults


def _pin_complaints(step: GetStep) -> Iterator[Complaint]:
    """Refuse a step that asks for a moving version of a resource that is pinned."""
    if "version" in step.model_fields_set and step.pin is None:
        text = (
            f"`version: {step.version}` contradicts the resource `{step.resource}`, which is pinned by its own "
            "`version:`; remove one of them, or pin another version here"
        )
        yield Complaint(("version",), text, ("version",))


def _built_in_complaints(step: GetStep | PutStep, type_name: str) -> Iterator[Complaint]:
    if step.params and type_name == "path":
        text = "`params:` does nothing for a resource of type `path`; put `ignore:` into its `source:`"
        yield Complaint(("params",), text, ("params",))
    known = GIT_PARAMS[step.kind]
    for name in step.params if type_name == "git" else ():
        if name not in known:
            yield Complaint(("params", name), unknown_name("`params:` key", name, known), ("params",))
    pin = (step.pin if isinstance(step, GetStep) else None) or {}
    key = VERSION_KEYS[type_name]
    if pin and set(pin) != {key}:
        text = f"a version of type `{type_name}` is `{{{key}: …}}`; pin it like that"
        yield Complaint(("version",), text, ("version",))
    if isinstance(step, PutStep) and type_name == "path":
        text = "a resource of type `path` is only read; take results back with `stepsnb copy`, or write your own type"
        yield Complaint(("put",), text)


def _items(root: Entries, section: str) -> Items | tuple[()]:
    items = root.get(section)
    return items if isinstance(items, Items) else ()

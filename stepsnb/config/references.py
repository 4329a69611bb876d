"""Names that refer to something else: agents, resources, tools; each must exist, and no name stands for two things."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from ..suggest import unknown_name
from .agent import Agent
from .concept import Complaint
from .concept_reader import Built
from .resource import Resource
from .selection import tool_complaints
from .source import Source
from .steps import AgentStep, GetStep, Step, TaskStep
from .tree import Entries, Items
from .wording import not_supported


@dataclass(frozen=True, slots=True)
class Names:
    """What steps may refer to; entries with errors count, so that a mistake is reported once."""

    agents: Mapping[str, Built[Agent]]
    resources: Mapping[str, Any]

    def complaints(self, step: Step) -> Iterator[Complaint]:
        """Yield the references of `step` that lead nowhere."""
        match step:
            case GetStep():
                if step.resource not in self.resources:
                    at = "resource" if "resource" in step.model_fields_set else "get"
                    yield Complaint((at,), unknown_name("resource", step.resource, self.resources), ("resource",))
            case AgentStep():
                if step.agent not in self.agents:
                    yield Complaint(("agent",), unknown_agent(step.agent, self.agents))
                    return
                agent, bad = self.agents[step.agent]
                if agent is not None and "tools" not in bad:
                    yield from tool_complaints(step, agent)
            case TaskStep():
                return
            case _:  # pragma: no cover  # mypy shows that there is no other kind
                assert_never(step)


def names_of(agents: Iterable[Agent], resources: Iterable[Resource]) -> Names:
    """Build the names of a pipeline that is loaded already."""
    return Names({agent.name: Built(agent, frozenset()) for agent in agents}, {each.name: each for each in resources})


def duplicates(root: Entries, sections: Mapping[str, str]) -> Iterator[Complaint]:
    """Yield the entries of the named lists whose name an earlier entry has; `sections` says what an entry is."""
    for section, kind in sections.items():
        lines: dict[str, int] = {}
        entries = root.get(section)
        for index, entry in enumerate(entries if isinstance(entries, Items) else ()):
            name = entry.text("name") if isinstance(entry, Entries) else None
            if name is None:
                continue
            if name in lines:
                text = f"the name `{name}` is taken by the {kind} on line {lines[name]}; give each its own"
                yield Complaint((section, index, "name"), text)
            lines.setdefault(name, entry.mark.line)


def check_models(root: Entries) -> Iterator[Complaint]:
    """Yield the agents that have no model, neither their own nor by default."""
    defaults, agents = root.get("defaults"), root.get("agents")
    if isinstance(defaults, Entries) and "model" in defaults:
        return
    for index, agent in enumerate(agents if isinstance(agents, Items) else ()):
        source = agent.get("source", Entries(agent.mark, ())) if isinstance(agent, Entries) else None
        if isinstance(source, Entries) and "model" not in source.keys() | Source.mistaken_keys(source):
            text = "has no model; write `source: {model: PROVIDER/NAME}`, or `defaults: {model: …}` for every agent"
            yield Complaint(("agents", index, "source"), text)


def unknown_agent(name: str, known: Iterable[str]) -> str:
    """Say that there is no agent `name`."""
    if name.startswith("@"):
        return not_supported(f"`agent: {name}` (a built-in agent)", "write the agent out under `agents:`")
    return unknown_name("agent", name, known)

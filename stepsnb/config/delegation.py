"""Agents that call agents: each must exist, none may reach itself, and the levels are bounded."""

from collections.abc import Iterator, Mapping, Sequence

from ..settings import SUB_AGENT_DEPTH
from .agent import Agent
from .concept import Complaint
from .grants import AgentGrant, BuiltinGrant, Grant
from .references import unknown_agent
from .tree import Path

_Children = dict[str, dict[str, Path]]
"""Whom each agent calls, with the place of the grant."""


def delegation_complaints(agents: Sequence[Agent | None], names: Mapping[str, object]) -> Iterator[Complaint]:
    """Yield the sub-agents that cannot be: unknown, calling themselves, or nested too deep.

    Args:
        agents: The entries of `agents:` by position; None for each that cannot be judged.
        names: What is known by name, entries with errors included.
    """
    children: _Children = {}
    for index, agent in enumerate(agents):
        for position, grant in enumerate((agent.tools if agent else None) or ()):
            if agent is None or (called := called_by(grant)) is None:
                continue
            at = ("agents", index, "tools", position, "agent" if isinstance(grant, AgentGrant) else "answered_by")
            if called in names:
                children.setdefault(agent.name, {}).setdefault(called, at)
            else:
                yield Complaint(at, unknown_agent(called, names))
    circles, order = _search(children)
    for circle in circles:
        text = f"the agents call each other in a circle: {_chain(circle)}; remove one of these grants"
        if len(circle) == 2:
            text = f"agent `{circle[0]}` cannot be its own sub-agent; remove it"
        place = children[circle[-2]][circle[-1]]
        if len(circle) == 2 and place[-1] == "answered_by":
            text = f"agent `{circle[0]}` cannot answer its own questions; name another agent, or remove it"
        yield Complaint(place, text)
    yield from _too_deep(children, order)


def called_by(grant: Grant) -> str | None:
    """Return the agent that a tool holds a conversation with: a sub-agent, or who answers questions; else None."""
    if isinstance(grant, AgentGrant):
        return grant.agent
    return grant.answered_by if isinstance(grant, BuiltinGrant) else None


def _search(children: _Children) -> tuple[list[list[str]], list[str]]:
    """Return the circles of callers, and all agents, each after those it calls; not recursive, as chains may be long.

    A circle begins and ends with the same agent; its last call is the one that closes it.
    """
    circles: list[list[str]] = []
    order: list[str] = []
    seen: set[str] = set()
    for root in children:
        path = {} if root in seen else {root: iter(children[root])}
        seen.add(root)
        while path:
            name = next(reversed(path))
            child = next(path[name], None)
            if child is None:
                order.append(name)
                del path[name]
            elif child in path:
                names = list(path)
                circles.append([*names[names.index(child) :], child])
            elif child not in seen:
                seen.add(child)
                path[child] = iter(children.get(child, ()))
    return circles, order


def _too_deep(children: _Children, order: Sequence[str]) -> Iterator[Complaint]:
    """Refuse the grants with which a chain gets one level too long; longer ones contain such a chain."""
    depth: dict[str, int] = {}
    deepest: dict[str, str] = {}
    for name in order:
        below = [child for child in children.get(name, ()) if child in depth]  # without those that close a circle
        depth[name] = 1 + max((depth[child] for child in below), default=-1)
        if below:
            deepest[name] = max(below, key=depth.__getitem__)
        if depth[name] == SUB_AGENT_DEPTH + 1:
            chain = [name]
            while chain[-1] in deepest:
                chain.append(deepest[chain[-1]])
            text = f"sub-agents nested {depth[name]} deep, at most {SUB_AGENT_DEPTH}: {_chain(chain)}"
            yield Complaint(children[name][chain[1]], f"{text}; let one of them do the work itself")


def _chain(names: Sequence[str]) -> str:
    return " -> ".join(names)

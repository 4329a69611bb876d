"""The agents that come with stepsnb, one document each: a persona, tools and dials for a role, and no model."""

from functools import cache
from pathlib import Path

from ..agent import PROFILE_PREFIX, PROFILES, Agent, AgentDocument
from ..concept_reader import read_concept
from ..problems import Problems
from ..reader import read_tree
from ..tree import Entries

__all__ = ["profile_agents", "profile_of"]


@cache
def profile_of(name: str) -> AgentDocument | None:
    """Return what the built-in agent of that name is; None for any other name."""
    if name not in PROFILES:
        return None
    file = Path(__file__).with_name(f"{name.removeprefix(PROFILE_PREFIX)}.yml")
    problems = Problems(file.name)
    root = read_tree(file.read_text(encoding="utf-8"), problems, {}).root
    assert isinstance(root, Entries)
    document = read_concept(AgentDocument, root, (), problems).model
    if problems or document is None:
        raise problems.error()
    return document


@cache
def profile_agents() -> tuple[Agent, ...]:
    """Return the built-in agents as they are without an entry under `agents:`, with the model of `defaults:`."""
    agents = []
    for name in PROFILES:
        document = profile_of(name)
        assert document is not None
        fields = {field: getattr(document, field) for field in document.model_fields_set}
        agents.append(Agent.model_construct(_fields_set={*fields, "name"}, name=name, **fields))
    return tuple(agents)

"""A sub-agent: another entry of `agents:` as a tool."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from ..concept import Complaint, Concept
from ..scalars import Name, Text
from .call_limits import CallDeadlineS
from .tool_name import wrong_name


class AgentGrant(Concept):
    """An agent that the model can hand a request to; its last text is the result."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        "args": "pins arguments of custom and Python tools, a sub-agent has only `request`; remove it",
        "max_calls": "is for custom and Python tools, not sub-agents; remove it",
        "max_output_bytes": "is for custom and Python tools, a sub-agent's answer goes back as it is; remove it",
        "name": "is for custom and Python tools, a sub-agent is called by its own; remove it",
        "required": "is for custom tools, Python tools and `ask_user`, not sub-agents; assert on `tool_calls:`",
        "retry": "is for custom and Python tools; write `retry: {subagent: …}` on the agent that grants this one",
    }

    agent: Name = Field(description="An entry of `agents:`.")
    description: Text | None = Field(default=None, description="What the model reads; unset: the agent's own.")
    timeout_s: CallDeadlineS | None = Field(
        default=None, validation_alias="timeout", description='How long one request runs; "0" means no limit.'
    )

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return tool_name(self.agent)

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a name no model could call it by."""
        if text := wrong_name(self.name, "rename the agent"):
            yield Complaint(("agent",), text, ("agent",))


def tool_name(agent: str) -> str:
    """Return the name of the tool that stands for `agent`."""
    return agent.removeprefix("@").replace("/", "_")

"""An agent: a persona, its model and dials, and the tools it is granted."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from . import unsupported
from .concept import Complaint, Concept
from .grant import DEFAULT_TOOLS, Grant
from .scalars import (
    AtLeast0,
    AtLeast1,
    Attempts,
    DurationS,
    Name,
    Preflight,
    Share,
    Temperature,
    Text,
    one_of,
)
from .source import Source
from .unsupported import Unsupported
from .wording import not_supported


class Agent(Concept):
    """One entry of `agents:`; a dial that is not set is not sent, so the provider's own holds."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.AGENT

    name: Name
    description: Text | None = None
    source: Source = Source()
    system: Text | None = Field(default=None, description="The persona.")
    tools: tuple[Grant, ...] | None = Field(default=None, description=f"Unset: {', '.join(DEFAULT_TOOLS)}.")
    max_turns: AtLeast0 | None = Field(default=None, description="Replies of one step; 0 means no cap.")
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')
    max_questions: AtLeast0 | None = Field(default=None, description="`ask_user` calls of one step.")
    temperature: Temperature | None = None
    top_p: Share | None = None
    max_tokens: AtLeast1 | None = None
    reasoning_effort: (
        Annotated[Literal["low", "medium", "high"], one_of("reasoning effort", "low", "medium", "high")] | None
    ) = None
    context_window: AtLeast1 | None = Field(default=None, description="In tokens.")
    preflight: Preflight | None = Field(
        default=None, description="`false`: no request that the conversation doesn't need."
    )
    attempts: Attempts | None = Field(default=None, description="1: a failed request is not repeated.")

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools it is granted, in order."""
        return DEFAULT_TOOLS if self.tools is None else tuple(grant.name for grant in self.tools)

    def complaints(self) -> Iterator[Complaint]:
        """Refuse built-in profiles and tools granted twice."""
        if self.name.startswith("@"):
            subject = f"`name: {self.name}` (a built-in agent)"
            yield Complaint(("name",), not_supported(subject, "write the agent out under a name of your own"))
        names = self.tool_names
        for index, name in enumerate(names):
            if name in names[:index]:
                yield Complaint(("tools", index), f"tool `{name}` is granted twice; keep one", ("tools",))

"""An agent: a persona, its model and dials, and the tools it is granted."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from ..settings import ATTEMPTS, DELEGATE_BUDGET_PERCENT, MAX_CONTEXT_BYTES
from ..suggest import unknown_name
from . import unsupported
from .budget import BudgetSpec
from .concept import Complaint
from .fallback import FallbackSpec
from .grants import DEFAULT_TOOLS, BuiltinGrant, Grant, McpGrant
from .image import Contained, image_complaints
from .preflight import AgentPreflight
from .retry import RetryLayers
from .scalars import (
    AtLeast0,
    AtLeast1,
    Attempts,
    DurationS,
    Name,
    Percent,
    Share,
    Temperature,
    Text,
    one_of,
)
from .source import Source
from .unsupported import Unsupported

PROFILE_PREFIX: Final = "@builtin/"
PROFILES: Final = tuple(f"{PROFILE_PREFIX}{role}" for role in ("builder", "explorer", "planner", "reviewer"))
"""The agents that come with stepsnb; see `profiles`."""


class AgentKeys(Contained):
    """Everything about an agent but its name; a dial that is not set is not sent, so the provider's own holds."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.AGENT

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
    preflight: AgentPreflight | None = Field(
        default=None, description="`false`: no request that the conversation doesn't need; unset: as in `defaults:`."
    )
    fallback: tuple[FallbackSpec, ...] = Field(
        default=(), description="Sources to go on with, in order, when the one before is down."
    )
    budget: BudgetSpec | None = Field(
        default=None, description="What one of its conversations may spend, with all that it delegates."
    )
    delegate_budget_percent: Percent | None = Field(
        default=None, description=f"Of what is left, for each call of a sub-agent; unset: {DELEGATE_BUDGET_PERCENT}."
    )
    attempts: Attempts | None = Field(
        default=None, description=f"Requests for one reply while they fail; unset: {ATTEMPTS}, 1 repeats none."
    )
    retry: RetryLayers | None = Field(default=None, description="Changes to the retry policy, by kind of effect.")
    compact_after_tokens: AtLeast0 | None = Field(
        default=None, description="A larger conversation is summarised; unset: 80 % of the window, 0: never."
    )
    max_context_bytes: AtLeast0 | None = Field(
        default=None, description=f"Of each file of `context_paths`; unset: {MAX_CONTEXT_BYTES:,}, 0: all of it."
    )

    system_file: Text | None = Field(
        default=None,
        description="A file that holds `system:`, relative to the pipeline file.",
        exclude=True,
        repr=False,
    )

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools it is granted, in order; `SERVER__*` stands for all that an MCP server has."""
        return tuple(name for grant in self.grants for name in names_of(grant))

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The tools it is granted, those of an agent without `tools:` included."""
        return tuple(BuiltinGrant(builtin=name) for name in DEFAULT_TOOLS) if self.tools is None else self.tools

    def mcp_grants(self, selected: Sequence[object] | None = None) -> list[McpGrant]:
        """Return the grants of MCP servers' tools, of a step that selects some by name only those it needs."""
        grants = [grant for grant in self.grants if isinstance(grant, McpGrant)]
        if selected is None:
            return grants
        return [each for each in grants if any(isinstance(name, str) and each.covers(name) for name in selected)]

    def grant_of(self, name: str) -> Grant | None:
        """The grant of the tool that the model calls `name`; None when it has none."""
        return next((grant for grant in self.grants if covers(grant, name)), None)

    def complaints(self) -> Iterator[Complaint]:
        """Refuse tools of one name, two numbers of attempts, and settings of a container that is not there."""
        yield from image_complaints(self)
        for index, grant in enumerate(self.tools or ()):
            for earlier in (self.tools or ())[:index]:
                if name := _shared_name(grant, earlier):
                    yield Complaint(("tools", index), _clash(name, grant, earlier), ("tools",))
                    break
        if self.attempts is not None and self.retry and self.retry.llm and self.retry.llm.max_attempts is not None:
            text = "`attempts:` and `retry.llm.max_attempts:` say the same; keep `attempts:`, steps may override it"
            yield Complaint(("retry", "llm", "max_attempts"), text, ("attempts", "retry"))


class AgentDocument(AgentKeys):
    """An agent in a file of its own, without its name."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        "name": "is given by the entry that loads this file; remove it",
        "file": "cannot stand in a file that is loaded itself; write its keys here",
        "system_file": "cannot stand in a file that is loaded itself; write the text under `system:`",
    }

    @classmethod
    def keys(cls) -> frozenset[str]:
        """Return the YAML keys this concept has."""
        return super().keys() - {"system_file"}


class Agent(AgentKeys):
    """One entry of `agents:`; its keys win over those of the document `file` names."""

    name: Name
    file: Text | None = Field(
        default=None, description="A YAML file with any of the other keys.", exclude=True, repr=False
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a name that is kept for built-in agents, and what is wrong with any agent."""
        if self.name.startswith("@") and self.name not in PROFILES:
            yield Complaint(("name",), unknown_name("built-in agent", self.name, PROFILES))
        yield from super().complaints()


def names_of(grant: Grant) -> tuple[str, ...]:
    """Return the names of the tools a grant gives."""
    return grant.names if isinstance(grant, McpGrant) else (grant.name,)


def covers(grant: Grant, name: str) -> bool:
    """Whether a grant gives the tool that the model calls `name`."""
    return grant.covers(name) if isinstance(grant, McpGrant) else grant.name == name


def _shared_name(grant: Grant, earlier: Grant) -> str | None:
    """Return the name of a tool that both give."""
    shared = [name for name in names_of(grant) if covers(earlier, name)]
    shared += [name for name in names_of(earlier) if covers(grant, name)]
    return shared[0] if shared else None


def _clash(name: str, grant: Grant, earlier: Grant) -> str:
    if grant == earlier or isinstance(grant, BuiltinGrant) or (isinstance(grant, McpGrant) and grant.covers(name)):
        return f"tool `{name}` is granted twice; keep one"
    return f"two tools are called `{name}`, the model could not tell them apart; give one another name"

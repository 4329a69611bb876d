"""An `ensemble` step: several agents vote, and a rule decides."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import Field, ValidationInfo, field_validator

from ..concept import Complaint, Concept
from ..scalars import AtLeast1, Name, one_of
from .agent import AgentStep
from .base import Bounded, StepBase
from .routes import VerdictEntry, Verdicts, names_of_verdicts, routes_of_verdicts, verdict_complaints

if TYPE_CHECKING:
    from . import Step

RULES: Final = ("majority", "unanimous", "any")
"""The ways to decide without a judge."""


class EnsembleBlock(Concept):
    """What stands under `ensemble:`; its members decide between its verdicts."""

    entries: Verdicts = Field(validation_alias="verdicts", description="What all members decide between.")
    decide: Name = Field(
        default="majority", description="`majority`, `unanimous`, `any`, or an entry of `agents:` that judges."
    )
    member_errors: Annotated[Literal["fail", "exclude"], one_of("way with members' errors", "fail", "exclude")] = Field(
        default="fail", description="Whether a member's error fails the block or leaves the member out."
    )
    agents: tuple[AgentStep, ...] = Field(description="The members, each an agent step.")

    @field_validator("agents")
    @classmethod
    def _votes(cls, members: tuple[AgentStep, ...], info: ValidationInfo) -> tuple[AgentStep, ...]:
        names = tuple(VerdictEntry(name) for name in names_of_verdicts(info.data.get("entries", ())))
        return tuple(
            member if member.entries is not None else member.model_copy(update={"entries": names}) for member in members
        )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse an ensemble without members or with one of them twice, and a judge who votes."""
        yield from verdict_complaints(self.entries)
        if not self.agents:
            yield Complaint(("agents",), "`ensemble.agents:` has no members; list at least one", ("agents",))
        names = [member.name for member in self.agents]
        for index, name in enumerate(names):
            if name in names[:index]:
                text = f"agent `{name}` votes twice; give each member an agent of its own"
                yield Complaint(("agents", index, "agent"), text, ("agents",))
        if self.decide not in RULES and self.decide in names:
            text = f"agent `{self.decide}` cannot judge its own vote; name an agent that is no member"
            yield Complaint(("decide",), text, ("decide", "agents"))


class EnsembleStep(Bounded, StepBase):
    """Asks all members at the same time and decides by `decide`."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        "assert": "is for tasks and agents; write it on a member",
        "to": "is for steps without `verdicts:`; write `verdicts: [NAME: STEP]`",
        **{
            key: f"stands inside: `ensemble: {{{key}: …}}`" for key in ("agents", "decide", "member_errors", "verdicts")
        },
    }
    kind: ClassVar[Literal["ensemble"]] = "ensemble"

    block: EnsembleBlock = Field(validation_alias="ensemble")
    max_visits: AtLeast1 | None = Field(
        default=None, description="How often the step runs when routes lead back to it or before it."
    )

    @property
    def held(self) -> "tuple[Step, ...]":
        """The members."""
        return self.block.agents

    @property
    def name(self) -> str:
        """What records call it."""
        return self.kind

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What the members decide between, in order."""
        return names_of_verdicts(self.block.entries)

    @property
    def routes(self) -> Mapping[str, str]:
        """Targets by verdict, and by `failure`."""
        return routes_of_verdicts(self.block.entries)

    @property
    def decide(self) -> str:
        """`majority`, `unanimous`, `any`, or the name of the agent that judges."""
        return self.block.decide

    @property
    def judge(self) -> str | None:
        """The agent that judges; None when a rule decides."""
        return None if self.block.decide in RULES else self.block.decide

    @property
    def member_errors(self) -> Literal["fail", "exclude"]:
        """Whether a member's error fails the block or leaves the member out."""
        return self.block.member_errors

    @property
    def members(self) -> tuple[AgentStep, ...]:
        """The agent steps that vote."""
        return self.block.agents


def judge_step(ensemble: EnsembleStep, ballot: str) -> AgentStep:
    """Build the step of the agent that decides `ensemble`; `ballot` tells it all votes and notes.

    Raises: ValueError when a rule decides.
    """
    if ensemble.judge is None:
        raise ValueError(f"`decide: {ensemble.decide}` needs no judge")
    entries = tuple(VerdictEntry(name) for name in ensemble.verdicts)
    return AgentStep(agent=ensemble.judge, messages=(ballot,), entries=entries, where=ensemble.where)

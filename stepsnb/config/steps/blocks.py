"""Steps made of steps: in order, at the same time, for the first success, or without a failure's consequences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from ..concept import Complaint, Concept
from ..scalars import AtLeast1, Flag
from .base import Bounded, StepBase
from .routes import Routed

if TYPE_CHECKING:
    from . import Step

_MISPLACED = {
    "assert": "is for tasks and agents; write it on a step inside",
    "env": "is for tasks and agents; write it on the steps inside",
    "inputs": "is for the steps inside; write it on them",
    "outputs": "is for the steps inside; write it on them",
    "verdicts": "is for agent steps and ensembles; write it on a step inside",
    "volatile": "is for tasks and agents; write it on the steps inside",
    "across": "is for tasks, puts and agents; write it on a step inside",
}


class DoStep(Routed, Bounded, StepBase):
    """Runs its steps one after the other; one that fails stops it. Its hooks see the whole group."""

    misplaced_keys: ClassVar[dict[str, str]] = _MISPLACED
    kind: ClassVar[Literal["do"]] = "do"

    steps: "tuple[Step, ...]" = Field(validation_alias="do")

    @property
    def held(self) -> "tuple[Step, ...]":
        """The steps inside it."""
        return self.steps

    @property
    def name(self) -> str:
        """What records call it."""
        return self.kind

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a group of nothing."""
        if not self.steps:
            yield Complaint(("do",), "`do:` has no steps; list at least one", ("do",))


class ParallelBlock(Concept):
    """What stands under `in_parallel:`."""

    steps: "tuple[Step, ...]" = Field(description="The branches.")
    limit: AtLeast1 | None = Field(default=None, description="Branches that run at the same time; unset: all.")
    fail_fast: Flag = Field(default=False, description="Stop the other branches when one fails.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a block of nothing."""
        if not self.steps:
            yield Complaint(("steps",), "`in_parallel.steps:` has no steps; list at least one", ("steps",))


class InParallelStep(Routed, Bounded, StepBase):
    """Runs its branches at the same time; no branch sees what another makes.

    A bare list of steps under `in_parallel:` stands for `{steps: […]}`.
    """

    misplaced_keys: ClassVar[dict[str, str]] = _MISPLACED | {
        "limit": "stands inside: `in_parallel: {steps: […], limit: 2}`",
        "fail_fast": "stands inside: `in_parallel: {steps: […], fail_fast: true}`",
        "steps": "stands inside: `in_parallel: {steps: […]}`",
    }
    kind: ClassVar[Literal["in_parallel"]] = "in_parallel"

    block: ParallelBlock = Field(validation_alias="in_parallel")

    @property
    def held(self) -> "tuple[Step, ...]":
        """The steps inside it."""
        return self.block.steps

    @property
    def name(self) -> str:
        """What records call it."""
        return self.kind

    @property
    def steps(self) -> "tuple[Step, ...]":
        """The branches."""
        return self.block.steps

    @property
    def limit(self) -> int | None:
        """How many branches may run at the same time; None for all."""
        return self.block.limit

    @property
    def fail_fast(self) -> bool:
        """Whether a branch that fails stops the others."""
        return self.block.fail_fast


class RaceBlock(Concept):
    """What stands under `race:`."""

    steps: "tuple[Step, ...]" = Field(description="The branches; all declare the same outputs.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a race of nothing."""
        if not self.steps:
            yield Complaint(("steps",), "`race.steps:` has no steps; list at least one", ("steps",))


class RaceStep(Routed, Bounded, StepBase):
    """Runs its branches at the same time until one succeeds; the others are stopped.

    A bare list of steps under `race:` stands for `{steps: […]}`.
    """

    misplaced_keys: ClassVar[dict[str, str]] = _MISPLACED | {"steps": "stands inside: `race: {steps: […]}`"}
    kind: ClassVar[Literal["race"]] = "race"

    block: RaceBlock = Field(validation_alias="race")

    @property
    def held(self) -> "tuple[Step, ...]":
        """The steps inside it."""
        return self.block.steps

    @property
    def name(self) -> str:
        """What records call it."""
        return self.kind

    @property
    def steps(self) -> "tuple[Step, ...]":
        """The branches."""
        return self.block.steps


class TryStep(Bounded, StepBase):
    """Runs `step`, whose failure or error does not stop the plan; an abort does."""

    misplaced_keys: ClassVar[dict[str, str]] = _MISPLACED | {"to": "is for the step inside; write it there"}
    kind: ClassVar[Literal["try"]] = "try"

    step: "Step" = Field(validation_alias="try")

    @property
    def held(self) -> "tuple[Step, ...]":
        """The steps inside it."""
        return (self.step,)

    @property
    def name(self) -> str:
        """The name of the step inside, which routes and records know it by."""
        return self.step.name

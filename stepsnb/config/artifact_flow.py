"""Which artifacts a plan's steps have when their turn comes, and which inputs nothing makes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..suggest import did_you_mean
from .steps import GetStep, Step

FILES_ARTIFACT = "files"
"""The artifact that `--files` or `run(files=…)` makes; whether it was handed in shows when a run starts."""


@dataclass(frozen=True, slots=True)
class UnmetInput:
    """An input that no step before makes; `index` and `position` count from 0 in the plan and in its `inputs:`."""

    index: int
    position: int
    step: Step
    text: str

    def __str__(self) -> str:
        return f"{self.step.where}: step {self.index + 1} ({self.step.kind} `{self.step.name}`): {self.text}"


def check_artifacts(steps: Sequence[Step], available: Collection[str]) -> list[UnmetInput]:
    """Return the inputs that nothing makes before their step, in order; `available` is there from the start."""
    made = set(available)
    later = {name for step in steps for name in _made_by(step)}
    unmet: list[UnmetInput] = []
    for index, step in enumerate(steps):
        inputs = () if isinstance(step, GetStep) else step.inputs
        for position, name in enumerate(inputs):
            if name not in made:
                unmet.append(UnmetInput(index, position, step, _unmet(name, made, is_made_later=name in later)))
        made.update(_made_by(step))
    return unmet


def _made_by(step: Step) -> tuple[str, ...]:
    return (step.get,) if isinstance(step, GetStep) else step.outputs


def _unmet(name: str, made: set[str], *, is_made_later: bool) -> str:
    if is_made_later:
        return f"the input `{name}` is made only by this step or a later one; make it in a step before"
    own = sorted(made - {FILES_ARTIFACT})
    have = f"before this step there is: {', '.join(own)}" if own else "list it in the `outputs:` of a step before"
    return f"nothing makes the input `{name}`{did_you_mean(name, made)}; {have}"

"""Which artifacts a plan's steps have when their turn comes, and which inputs nothing makes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..suggest import did_you_mean
from .steps import (
    AgentStep,
    DoStep,
    EnsembleStep,
    GetStep,
    InParallelStep,
    LoadVarStep,
    PutStep,
    RaceStep,
    Step,
    TaskStep,
    TryStep,
)
from .tree import Path

FILES_ARTIFACT = "files"
"""The artifact that `--files` or `run(files=…)` makes; whether it was handed in shows when a run starts."""

_AFTER_FAILURE = ("on_failure", "on_error", "on_abort")


@dataclass(frozen=True, slots=True)
class FlowProblem:
    """A step that cannot have an artifact, or may not make one.

    `at` is the place in the step, and the keys in `about` are what the problem follows from.
    """

    step: Step
    at: Path
    text: str
    about: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.step.where}: {self.step.kind} `{self.step.name}`: {self.text}"


@dataclass(frozen=True, slots=True)
class Flow:
    """What a plan makes of the artifacts that were there before it, and what is wrong with it."""

    made: frozenset[str]
    unmet: tuple[FlowProblem, ...]


def check_artifacts(steps: Sequence[Step], available: Collection[str]) -> Flow:
    """Follow the artifacts through the steps of a plan; `available` is there from the start."""
    flow = _Flow(steps)
    made = flow.in_order(steps, frozenset(available))
    return Flow(made, tuple(flow.problems))


class _Flow:
    def __init__(self, plan: Sequence[Step]) -> None:
        self.problems: list[FlowProblem] = []
        self._anywhere = {name for step in plan for each in step.walk() for name in _made_by(each)}

    def in_order(self, steps: Sequence[Step], available: frozenset[str]) -> frozenset[str]:
        for step in steps:
            available |= self.step(step, available)
        return available

    def step(self, step: Step, available: frozenset[str], siblings: Mapping[str, str] | None = None) -> frozenset[str]:
        """Check one step and what it holds; returns what it makes. `siblings` says which branch makes what."""
        for at, name in _read_by(step):
            if name not in available:
                self._refuse(step, at, self._unmet(name, available, siblings or {}))
        made = self._inside(step, available, siblings)
        for key, hook in step.hooks.items():
            kept = frozenset() if key in _AFTER_FAILURE and not step.held else made
            self._hook(key, hook, available | kept, made - kept)
        return made

    def _inside(self, step: Step, available: frozenset[str], siblings: Mapping[str, str] | None) -> frozenset[str]:
        match step:
            case DoStep():
                return self.in_order(step.steps, available) - available
            case TryStep():
                return self.step(step.step, available, siblings)
            case InParallelStep() | EnsembleStep():
                return self._side_by_side(step.held, available)
            case RaceStep():
                return self._race(step, available)
        return frozenset(_made_by(step))

    def _side_by_side(self, branches: Sequence[Step], available: frozenset[str]) -> frozenset[str]:
        made: dict[str, Step] = {}
        makers = _makers(branches)
        for branch in branches:
            own = self.step(
                branch, available, {name: by for name, by in makers.items() if name not in _all_made(branch)}
            )
            for name in sorted(own & made.keys()):
                text = f"`{name}` is made by another branch as well, and which one would stay; give it another name"
                self._refuse(branch, ("outputs",), text)
            made.update(dict.fromkeys(own, branch))
        return frozenset(made)

    def _race(self, race: RaceStep, available: frozenset[str]) -> frozenset[str]:
        made = [self.step(branch, available, _makers(race.steps)) for branch in race.steps]
        for branch, own in zip(race.steps, made, strict=True):
            if own != made[0]:
                first, here = (", ".join(sorted(names)) or "nothing" for names in (made[0], own))
                text = (
                    f"the branches of a race make the same outputs, the first makes {first} and this {here}; align them"
                )
                self._refuse(branch, ("outputs",), text)
        return made[0] if made else frozenset()

    def _hook(self, key: str, hook: Step, available: frozenset[str], lost: frozenset[str]) -> None:
        for each in hook.walk():
            for at, name in _read_by(each):
                if name in lost and name not in available:
                    text = f"`{key}:` has no `{name}`, as a step that did not succeed leaves no outputs; remove it"
                    self._refuse(each, at, text)
        self.step(hook, available | lost)

    def _unmet(self, name: str, available: frozenset[str], siblings: Mapping[str, str]) -> str:
        if name in siblings:
            return (
                f"no branch reads what another makes, and the input `{name}` is made by {siblings[name]}; "
                "make it in a step before, or read it in a step after"
            )
        if name in self._anywhere:
            return f"the input `{name}` is made only by this step or a later one; make it in a step before"
        own = sorted(available - {FILES_ARTIFACT})
        have = f"before this step there is: {', '.join(own)}" if own else "list it in the `outputs:` of a step before"
        return f"nothing makes the input `{name}`{did_you_mean(name, available)}; {have}"

    def _refuse(self, step: Step, at: Path, text: str) -> None:
        about = ("inputs", "input_mapping") if at[0] in ("inputs", "input_mapping") else (str(at[0]),)
        self.problems.append(FlowProblem(step, at, text, about))


def _read_by(step: Step) -> Iterator[tuple[Path, str]]:
    """Yield the artifacts a step itself reads, each with the place that says so."""
    match step:
        case TaskStep():
            for index, name in enumerate(step.inputs):
                mapped = name in step.input_mapping
                yield ("input_mapping", name) if mapped else ("inputs", index), step.input_mapping.get(name, name)
        case AgentStep() | LoadVarStep():
            yield from ((("inputs", index), name) for index, name in enumerate(step.inputs))
        case PutStep() if step.inputs != "all":
            yield from ((("inputs", index), name) for index, name in enumerate(step.inputs))


def _made_by(step: Step) -> tuple[str, ...]:
    """Return the artifacts a step itself makes."""
    match step:
        case GetStep():
            return (step.get,)
        case TaskStep():
            return tuple(step.output_mapping.get(name, name) for name in step.outputs)
        case AgentStep():
            return step.outputs
        case _:
            return ()


def _all_made(step: Step) -> frozenset[str]:
    return frozenset(name for each in step.walk() for name in _made_by(each))


def _makers(branches: Sequence[Step]) -> dict[str, str]:
    """Say of each artifact which branch makes it, in words."""
    return {
        name: f"branch {number} ({_shown(branch)})"
        for number, branch in enumerate(branches, 1)
        for name in _all_made(branch)
    }


def _shown(step: Step) -> str:
    return step.kind if step.name == step.kind else f"{step.kind} `{step.name}`"

"""Trees of steps to models of steps, each with what it holds, so that one broken step hides no problem of another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..suggest import nearest, unknown_name
from .concept import Concept
from .concept_reader import Built, read_concept
from .deferred import Deferred
from .includes import Includes
from .labels import step_kinds
from .problems import Problems
from .steps import (
    HOOKS,
    AgentStep,
    ApprovalStep,
    DoStep,
    EnsembleBlock,
    EnsembleStep,
    GetStep,
    InParallelStep,
    LoadVarStep,
    ParallelBlock,
    PutStep,
    RaceBlock,
    RaceStep,
    Step,
    TaskStep,
    TryStep,
)
from .task_entry import TaskEntry
from .tree import Entries, Items, Path, Tree
from .variables import deferred_names
from .wording import shape

_KINDS: Final[dict[str, type[Step]]] = {
    "task": TaskStep,
    "agent": AgentStep,
    "get": GetStep,
    "put": PutStep,
    "load_var": LoadVarStep,
    "do": DoStep,
    "in_parallel": InParallelStep,
    "race": RaceStep,
    "ensemble": EnsembleStep,
    "approval": ApprovalStep,
    "try": TryStep,
}

_BLOCKS: Final[dict[str, tuple[type[Concept], str]]] = {
    "in_parallel": (ParallelBlock, "steps"),
    "race": (RaceBlock, "steps"),
    "ensemble": (EnsembleBlock, "agents"),
}
"""Kinds whose value is a mapping with a list of steps in it, and the key of that list."""


@dataclass(frozen=True, slots=True)
class ReadStep:
    """What was read of one step: the model, None when it cannot be built, and the keys that are in error."""

    raw: Tree
    path: Path
    step: Step | None
    bad: frozenset[str]
    inside: tuple["ReadStep", ...] = ()
    hooks: Mapping[str, "ReadStep"] = field(default_factory=dict)

    @property
    def kind(self) -> str | None:
        """The kind it says it is; None when it says none, or two."""
        kinds = step_kinds(self.raw)
        return kinds[0] if len(kinds) == 1 else None

    @property
    def name(self) -> str | None:
        """The name as it is written; None for a step without one."""
        if self.kind == "try":
            return self.inside[0].name if self.inside else None
        if self.step is not None:
            return self.step.name
        return self.raw.text(self.kind) if isinstance(self.raw, Entries) and self.kind else None

    def walk(self) -> Iterator["ReadStep"]:
        """Yield this step, then all in it and its hooks, in the order of the text's structure."""
        yield self
        for each in (*self.inside, *self.hooks.values()):
            yield from each.walk()


class StepReader:
    """Reads the steps of one text.

    `includes` is None when the files they name have been read before, `tasks` are the entries they may refer to, and
    `job` names the job of a cell's steps in messages.
    """

    def __init__(
        self,
        problems: Problems,
        includes: Includes | None,
        tasks: Mapping[str, Built[TaskEntry]],
        *,
        job: str | None = None,
    ) -> None:
        self._problems = problems
        self._includes = includes
        self._tasks = tasks
        self._job = job

    def read_list(self, raw: Items, path: Path) -> tuple[ReadStep, ...]:
        """Read the steps of a plan or a block."""
        return tuple(self.read(each, (*path, index)) for index, each in enumerate(raw))

    def read_hooks(self, raw: Tree, path: Path) -> dict[str, ReadStep]:
        """Read the hooks of a step or job."""
        if not isinstance(raw, Entries):
            return {}
        return {key: self.read(raw[key], (*path, key)) for key in HOOKS if key in raw}

    def read(self, raw: Tree, path: Path) -> ReadStep:
        """Read one step and what it holds."""
        kinds = step_kinds(raw)
        if not isinstance(raw, Entries) or len(kinds) != 1:
            self._problems.add(raw.mark, path, _no_step(raw, kinds))
            return ReadStep(raw, path, None, frozenset({"this"}))
        kind = kinds[0]
        given: dict[str, Any] = {"where": self._problems.where(raw.mark)}
        broken: set[str] = set()
        inside = self._inside(kind, raw, path, given, broken)
        hooks = self.read_hooks(raw, path)
        _hand_over(hooks, given, broken)
        if self._includes is not None:
            raw = self._includes.fold(kind, raw, path)
        names = deferred_names(raw, skip=_held_keys(kind))
        if names:
            given["deferred"] = Deferred(names, raw, path, self._problems.root or raw, self._job)
        if kind == "task":
            self._resolve_task(raw, path, given, broken)
        built = read_concept(_KINDS[kind], raw, path, self._problems, given=given, broken=frozenset(broken))
        return ReadStep(raw, path, built.model, built.bad, inside, hooks)

    def _inside(
        self, kind: str, raw: Entries, path: Path, given: dict[str, Any], broken: set[str]
    ) -> tuple[ReadStep, ...]:
        below, place = raw[kind], (*path, kind)
        if kind == "try":
            inside = (self.read(below, place),)
            _hand_over({kind: inside[0]}, given, broken)
            return inside
        if kind == "do" and isinstance(below, Items):
            inside = self.read_list(below, place)
            given[kind] = tuple(each.step for each in inside if each.step is not None)
            broken.update({kind} if any(each.step is None for each in inside) else ())
            return inside
        if kind not in _BLOCKS or not isinstance(below, Entries):
            return ()
        block, key = _BLOCKS[kind]
        held, steps, unsound = below.get(key), {}, frozenset[str]()
        inside = ()
        if isinstance(held, Items):
            inside = self.read_list(held, (*place, key))
            if kind == "ensemble":
                self._refuse_other_members(inside)
                inside = tuple(each for each in inside if each.kind == "agent")
            steps[key] = tuple(each.step for each in inside if each.step is not None)
            unsound = frozenset({key}) if len(steps[key]) < len(held) else unsound
        built = read_concept(block, below, place, self._problems, given=steps, broken=unsound)
        if built.model is not None:
            given[kind] = built.model
        if built.bad:
            broken.add(kind)
        return inside

    def _refuse_other_members(self, members: tuple[ReadStep, ...]) -> None:
        for each in members:
            if each.kind not in (None, "agent"):
                text = f"a `{each.kind}:` step cannot vote; members of an ensemble are agent steps"
                self._problems.add(each.raw.mark, each.path, text)

    def _resolve_task(self, raw: Entries, path: Path, given: dict[str, Any], broken: set[str]) -> None:
        """Add what the entry of `tasks:` says to a step that has no program of its own."""
        if "run" in raw or "run_file" in raw or "run" in TaskStep.mistaken_keys(raw):
            return
        name = raw.text("task")
        if name is None or name not in self._tasks:
            text = "`run:` is missing; write the shell program, or a file that holds it under `run_file:`"
            if self._tasks and name is not None:
                text = f"{unknown_name('entry of `tasks:`', name, self._tasks)}; or write the program under `run:`"
            self._problems.add(raw.mark, path, text)
            broken.add("run")
            return
        entry, bad = self._tasks[name]
        broken.update(bad - raw.keys())
        if entry is None:
            broken.add("run")
            return
        for key, value in given_by(entry).items():
            if key == "privileged" and value:
                given[key] = True
            elif key not in raw and key not in ("name", "file", "run_file"):
                given[key] = value


def given_by(model: Concept) -> dict[str, Any]:
    """Return what a model sets, by the keys of the YAML."""
    fields = type(model).model_fields
    return {str(fields[name].validation_alias or name): getattr(model, name) for name in model.model_fields_set}


def _hand_over(steps: Mapping[str, ReadStep], given: dict[str, Any], broken: set[str]) -> None:
    for key, each in steps.items():
        if each.step is None:
            broken.add(key)
        else:
            given[key] = each.step


def _held_keys(kind: str) -> frozenset[str]:
    """Return the keys under which a step holds other steps."""
    held = {kind} if kind in ("do", "try") else {_BLOCKS[kind][1]} if kind in _BLOCKS else set()
    return frozenset({*HOOKS, *held})


def _no_step(raw: Tree, kinds: list[str]) -> str:
    if not isinstance(raw, Entries):
        return f"a step must be a mapping such as `task: NAME`, not {shape(raw)}; write its keys"
    if kinds:
        named = " and ".join(f"`{kind}:`" for kind in kinds)
        return f"names both {named}; a step is exactly one kind, so split it in two"
    for key in raw:
        if meant := nearest(key, _KINDS):
            return f"unknown step kind `{key}` (did you mean `{meant}`?); available: {', '.join(sorted(_KINDS))}"
    return f"names no step kind; give one of {', '.join(f'`{kind}:`' for kind in _KINDS)}"

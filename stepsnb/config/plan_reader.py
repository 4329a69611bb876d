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
    FAILURE,
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
    VerdictEntry,
)
from .task_entry import TaskEntry
from .tree import Entries, Items, Path, Scalar, Tree
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

_LISTED: Final[dict[str, type[ParallelBlock | RaceBlock]]] = {"in_parallel": ParallelBlock, "race": RaceBlock}
"""Kinds that may also have the bare list of steps as their value."""

_NOT_OF_MEMBERS: Final[Mapping[str, str]] = {
    "across": "cannot multiply a member of an ensemble; list one member for each",
    "max_visits": "is for steps of a plan; write it on the ensemble",
    "output": "is no vote; a member of an ensemble hands in a verdict",
    "to": "cannot route a member; route the ensemble with `verdicts: [NAME: STEP]`",
    "verdicts": "of a member are those of the ensemble; write them there",
}


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

    def read(self, raw: Tree, path: Path, more: Mapping[str, Any] | None = None) -> ReadStep:
        """Read one step and what it holds; `more` are fields that stand elsewhere, by their keys."""
        kinds = step_kinds(raw)
        if not isinstance(raw, Entries) or len(kinds) != 1:
            self._problems.add(raw.mark, path, _no_step(raw, kinds))
            return ReadStep(raw, path, None, frozenset({"this"}))
        kind = kinds[0]
        given: dict[str, Any] = {**(more or {}), "where": self._problems.where(raw.mark)}
        broken: set[str] = set()
        inside = self._inside(kind, raw, path, given, broken)
        hooks = self.read_hooks(raw, path)
        _hand_over(hooks, given, broken)
        if self._includes is not None:
            raw, missing = self._includes.fold(kind, raw, path)
            broken |= missing
        if self._includes is None or self._includes.variables.leaves_some:
            names = deferred_names(raw, skip=_held_keys(kind, raw))
            if names:
                given["deferred"] = Deferred(names, raw, path, self._problems.root or raw, more or {}, self._job)
        if kind == "task":
            self._resolve_task(raw, path, given, broken)
        built = read_concept(_KINDS[kind], raw, path, self._problems, given=given, broken=frozenset(broken))
        return ReadStep(raw, path, built.model, built.bad, inside, hooks)

    def _inside(
        self, kind: str, raw: Entries, path: Path, given: dict[str, Any], broken: set[str]
    ) -> tuple[ReadStep, ...]:
        below, place = raw[kind], (*path, kind)
        if kind == "try":
            held_step = self.read(below, place)
            _hand_over({kind: held_step}, given, broken)
            return (held_step,)
        if kind == "do" and isinstance(below, Items):
            steps_in_order = self.read_list(below, place)
            given[kind] = tuple(each.step for each in steps_in_order if each.step is not None)
            broken.update({kind} if len(given[kind]) < len(below) else ())
            return steps_in_order
        if kind in _LISTED and isinstance(below, Items):
            return self._bare_list(kind, below, place, given, broken)
        if kind not in _BLOCKS or not isinstance(below, Entries):
            return ()
        block, key = _BLOCKS[kind]
        held = below.get(key)
        within: tuple[ReadStep, ...] = ()
        steps: dict[str, Any] = {}
        if isinstance(held, Items) and kind == "ensemble":
            within = self._members(held, (*place, key), below.get("verdicts"))
        elif isinstance(held, Items):
            within = self.read_list(held, (*place, key))
        if isinstance(held, Items):
            steps[key] = tuple(each.step for each in within if each.step is not None)
        unsound = frozenset({key} if isinstance(held, Items) and len(steps[key]) < len(held) else ())
        built = read_concept(block, below, place, self._problems, given=steps, broken=unsound)
        if built.model is not None:
            given[kind] = built.model
        if built.bad:
            broken.add(kind)
        return within

    def _bare_list(
        self, kind: str, raw: Items, path: Path, given: dict[str, Any], broken: set[str]
    ) -> tuple[ReadStep, ...]:
        """Read the branches of a block that says nothing else."""
        within = self.read_list(raw, path)
        branches = tuple(each.step for each in within if each.step is not None)
        if not raw:
            self._problems.add(raw.mark, path, f"`{kind}:` has no steps; list at least one")
        if not raw or len(branches) < len(raw):
            broken.add(kind)
        if branches:
            given[kind] = _LISTED[kind](steps=branches)
        return within

    def _members(self, raw: Items, path: Path, verdicts: Tree | None) -> tuple[ReadStep, ...]:
        """Read the agent steps of an ensemble, which decide between its verdicts."""
        voted = _verdicts_of(verdicts)
        more = {"verdicts": voted} if voted else {}
        members: list[ReadStep] = []
        for index, entry in enumerate(raw):
            each, place = entry, (*path, index)
            kinds = step_kinds(each)
            if len(kinds) == 1 and kinds[0] != "agent":
                text = f"a `{kinds[0]}:` step cannot vote; members of an ensemble are agent steps"
                self._problems.add(each.mark, place, text)
                continue
            if isinstance(each, Entries):
                each = self._without_plan_keys(each, place)
            members.append(self.read(each, place, more))
        return tuple(members)

    def _without_plan_keys(self, raw: Entries, path: Path) -> Entries:
        """Refuse the keys that only a step of a plan can have, and return a member without them."""
        member = Entries(raw.mark, raw.path)
        for key, value in raw.items():
            if key in _NOT_OF_MEMBERS:
                self._problems.add(raw.key_marks[key], path, f"`{key}:` {_NOT_OF_MEMBERS[key]}")
            else:
                member.put(key, value, raw.key_marks[key])
        return member

    def _resolve_task(self, raw: Entries, path: Path, given: dict[str, Any], broken: set[str]) -> None:
        """Add what the entry of `tasks:` says to a step that has no program of its own."""
        if "run" in raw or "run_file" in raw or "run" in TaskStep.mistaken_keys(raw):
            return
        name = raw.text("task")
        if name is None or name not in self._tasks:
            text = "`run:` is missing; write the shell program, or a file that holds it under `run_file:`"
            if self._tasks and name is not None:
                text = f"{unknown_name('task', name, self._tasks)}; or write the program under `run:`"
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


def _verdicts_of(raw: Tree | None) -> tuple[VerdictEntry, ...]:
    """Return what the members of an ensemble decide between, as far as it can be read."""
    names: list[str] = []
    for entry in raw if isinstance(raw, Items) else ():
        if isinstance(entry, Scalar):
            names.append(entry.text)
        elif isinstance(entry, Entries):
            names += [name for name in entry if name != FAILURE]
    return tuple(VerdictEntry(name) for name in dict.fromkeys(names) if name.strip())


def _hand_over(steps: Mapping[str, ReadStep], given: dict[str, Any], broken: set[str]) -> None:
    for key, each in steps.items():
        if each.step is None:
            broken.add(key)
        else:
            given[key] = each.step


def _held_keys(kind: str, raw: Entries) -> frozenset[str]:
    """Return the keys under which a step holds other steps."""
    held = {kind} if kind in ("do", "try") else {_BLOCKS[kind][1]} if kind in _BLOCKS else set()
    if kind in _LISTED and isinstance(raw[kind], Items):
        held = {kind}
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

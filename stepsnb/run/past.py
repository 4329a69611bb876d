"""What an earlier run of a plan got done, so that it is not done again."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..events import Artifact, Event, ResourceVersion, StepFinished, StepSkipped, StepStarted
from ..outcome import Outcome
from ..workspace import ArtifactTree
from .opening import Decision
from .results import StepResult

CUT_OFF = "cut off"
"""Why a step has no end of its own: its process was gone before."""


@dataclass(slots=True)
class Done:
    """One visit of a step: how it ended, the identity it had, where it stood, and what it left.

    One that never ended counts as aborted. `parent_id` is the visit of the block around it, for a hook that of its
    step. `versions` are those of resources that it fetched or made, and `run_id` is the run that has its record.
    """

    result: StepResult
    hash: str
    parent_id: str | None
    trees: list[ArtifactTree] = field(default_factory=list)
    versions: list[ResourceVersion] = field(default_factory=list)
    run_id: str = ""

    @property
    def decision(self) -> Decision | None:
        """What it decided, if anything."""
        result = self.result
        return None if result.verdict is None else Decision(result.verdict, result.note, result.text)


class Past:
    """The visits of a run's steps by their place in the plan, first come first served.

    A step that did not get done is visited anew when its run goes on, so that of one place there may be several
    visits of which the last one counts.
    """

    def __init__(
        self,
        visits: Mapping[str, Iterable[Done]] | None = None,
        trees: Iterable[ArtifactTree] = (),
        step_count: int = 0,
    ) -> None:
        self._visits = {path: list(each) for path, each in (visits or {}).items()}
        self.trees = tuple(trees)
        """Everything the run had by then, in order."""
        self.step_count = step_count
        """How many step ids it used."""

    def __bool__(self) -> bool:
        return any(self._visits.values())

    @property
    def decisions(self) -> dict[str, Decision]:
        """What its steps had decided by then, by their names."""
        every = (each for visits in self._visits.values() for each in visits)
        return {each.result.name: each.decision for each in every if each.decision is not None}

    def then(self, later: "Past") -> "Past":
        """Return this past with what a run that came from it did after it."""
        visits = {path: [*each, *later._visits.get(path, ())] for path, each in self._visits.items()}
        trees = {tree.name: tree for tree in (*self.trees, *later.trees)}
        return Past({**later._visits, **visits}, trees.values(), max(self.step_count, later.step_count))

    def has_done(self, path: str) -> bool:
        """Whether a visit of the step at `path` ended well."""
        return any(each.result.outcome.is_good for each in self._visits.get(path, ()))

    def has_begun_inside(self, path: str, parents: Collection[str | None]) -> bool:
        """Whether anything inside the step at `path` was begun during one of the visits `parents`."""
        return any(
            other.startswith(f"{path}.") and any(each.parent_id in parents for each in visits)
            for other, visits in self._visits.items()
        )

    def take(
        self, path: str, parents: Collection[str | None], counts: Callable[[Done], bool]
    ) -> tuple[Done | None, list[Done]]:
        """Return the next visit of the step at `path` that `counts`, and those before it, which it takes the place of.

        Only visits that fall into one of the visits `parents` of what is around it are looked at, and none twice.
        """
        passed: list[Done] = []
        for visit in [each for each in self._visits.get(path, ()) if each.parent_id in parents]:
            self._visits[path].remove(visit)
            if counts(visit):
                return visit, passed
            passed.append(visit)
        return None, passed


def past_of(events: Iterable[Event], store_root: Path, *, before: str | None = None) -> Past:
    """Gather what a run got done from its events, in order.

    Of a step that was tried again only the last attempt counts. With `before` nothing counts from the first start of
    the step of that name on.
    """
    begun: dict[str, Done] = {}
    trees: dict[str, list[ArtifactTree]] = defaultdict(list)
    visits: dict[str, list[Done]] = defaultdict(list)
    every: list[ArtifactTree] = []
    step_count = 0
    for event in events:
        step_count = max(step_count, _number(event.step_id))
        match event:
            case StepStarted() | StepSkipped() if event.node is not None:
                if before is not None and event.name == before:
                    break
                if isinstance(event, StepStarted) and event.attempt > 1 and visits[event.node]:
                    visits[event.node].pop()  # the attempt before it
                visit = Done(_at_first(event), event.hash, event.parent_id, trees[event.step_id], run_id=event.run_id)
                begun[event.step_id] = visit
                visits[event.node].append(visit)
            case Artifact():
                trees[event.step_id].append(tree := _tree(event, store_root))
                every.append(tree)
            case ResourceVersion() if event.step_id in begun:
                begun[event.step_id].versions.append(event)
            case StepFinished() if event.step_id in begun:
                begun[event.step_id].result = StepResult(
                    event.step_id,
                    event.name,
                    event.step_kind,
                    Outcome(event.outcome),
                    event.reason,
                    event.response,
                    event.verdict,
                    event.note,
                    is_final=event.is_final,
                    output=event.output,
                )
            case _:
                pass
    return Past(visits, every, step_count)


def handed_in(events: Iterable[Event], store_root: Path) -> tuple[ArtifactTree, ...]:
    """Return the artifacts a run was given when it started."""
    return tuple(_tree(event, store_root) for event in events if isinstance(event, Artifact) and not event.step_id)


def _number(step_id: str) -> int:
    return int(step_id[1:]) if step_id[1:].isdecimal() else 0


def _at_first(event: StepStarted | StepSkipped) -> StepResult:
    if isinstance(event, StepStarted):
        return StepResult(event.step_id, event.name, event.step_kind, Outcome.ABORTED, CUT_OFF)
    outcome = Outcome.REUSED if event.reused else Outcome.SKIPPED
    return StepResult(
        event.step_id, event.name, event.step_kind, outcome, event.reason, event.response, output=event.output
    )


def _tree(event: Artifact, store_root: Path) -> ArtifactTree:
    return ArtifactTree(
        name=event.name, path=store_root / event.path, digest=event.digest, files=tuple(event.files), bytes=event.bytes
    )

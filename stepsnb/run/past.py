"""What an earlier run of a plan got done, so that it is not done again."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..events import Artifact, Event, StepFinished, StepSkipped, StepStarted
from ..outcome import Outcome
from ..workspace import ArtifactTree
from .opening import Decision
from .results import StepResult


@dataclass(slots=True)
class Done:
    """One visit of a step that came to an end: its result, the identity it had, and the artifacts it left."""

    result: StepResult
    hash: str
    trees: list[ArtifactTree] = field(default_factory=list)

    @property
    def decision(self) -> Decision | None:
        """What it decided, if anything."""
        result = self.result
        return None if result.verdict is None else Decision(result.verdict, result.note, result.text)


class Past:
    """The ended visits of a run's steps by their place in the plan, first come first served."""

    def __init__(self, done: Mapping[str, Iterable[Done]] | None = None, trees: Iterable[ArtifactTree] = ()) -> None:
        self._done: dict[str, deque[Done]] = {path: deque(visits) for path, visits in (done or {}).items()}
        self.trees = tuple(trees)
        """Everything the run had by then, in order."""
        visits = [each for visits in self._done.values() for each in visits]
        self.decisions = {each.result.name: each.decision for each in visits if each.decision is not None}
        """What its steps had decided by then, by their names."""

    def __bool__(self) -> bool:
        return any(self._done.values())

    def peek(self, path: str) -> Done | None:
        """Return the next visit of the step at `path`."""
        visits = self._done.get(path)
        return visits[0] if visits else None

    def take(self, path: str) -> Done | None:
        """Return the next visit of the step at `path` and go on behind it."""
        visits = self._done.get(path)
        return visits.popleft() if visits else None


def past_of(events: Iterable[Event], store_root: Path, *, before: str | None = None) -> Past:
    """Gather what a run got done from its events, in order.

    Of a step that was tried again only the last attempt counts, and one that was stopped never ended. With `before`
    nothing counts from the first start of the step of that name on.
    """
    started: dict[str, StepStarted] = {}
    trees: dict[str, list[ArtifactTree]] = defaultdict(list)
    done: dict[str, list[Done]] = defaultdict(list)
    every: list[ArtifactTree] = []
    for event in events:
        match event:
            case StepStarted() if event.node is not None:
                if before is not None and event.name == before:
                    break
                started[event.step_id] = event
                if event.attempt > 1 and done[event.node]:
                    done[event.node].pop()  # the attempt before it
            case Artifact():
                trees[event.step_id].append(_tree(event, store_root))
                every.append(trees[event.step_id][-1])
            case StepSkipped() if event.node is not None:
                if before is not None and event.name == before:
                    break
                outcome = Outcome.REUSED if event.reused else Outcome.SKIPPED
                result = StepResult(event.step_id, event.name, event.step_kind, outcome, event.reason)
                done[event.node].append(Done(result, event.hash, trees[event.step_id]))
            case StepFinished() if event.step_id in started and event.outcome != Outcome.ABORTED:
                begun = started[event.step_id]
                result = StepResult(
                    event.step_id, event.name, event.step_kind, Outcome(event.outcome), event.reason, event.response,
                    event.verdict, event.note,
                )  # fmt: skip
                done[begun.node or ""].append(Done(result, begun.hash, trees[event.step_id]))
            case _:
                pass
    return Past(done, every)


def handed_in(events: Iterable[Event], store_root: Path) -> tuple[ArtifactTree, ...]:
    """Return the artifacts a run was given when it started."""
    return tuple(_tree(event, store_root) for event in events if isinstance(event, Artifact) and not event.step_id)


def _tree(event: Artifact, store_root: Path) -> ArtifactTree:
    return ArtifactTree(
        name=event.name, path=store_root / event.path, digest=event.digest, files=tuple(event.files), bytes=event.bytes
    )

"""What a step sees of its run."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..config import Pipeline
from ..errors import WorkspaceError
from ..events import Artifact, Emit
from ..outcome import Outcome
from ..people import Ladder
from ..workspace import ArtifactTree, RunWorkspace, StepDir
from .recorder import Recorder


@dataclass(slots=True)
class RunContext:
    """The parts of a run that its steps share; `artifacts` grows as steps succeed."""

    pipeline: Pipeline
    workspace: RunWorkspace
    recorder: Recorder
    ladder: Ladder
    functions: Mapping[str, Callable[..., Any]]
    artifacts: dict[str, ArtifactTree] = field(default_factory=dict)
    questions: int = 0

    def keep(self, tree: ArtifactTree, emit: Emit) -> None:
        """Make a captured tree available to later steps."""
        self.artifacts[tree.name] = tree
        emit(
            Artifact(
                name=tree.name,
                path=self.workspace.relative(tree.path),
                digest=tree.digest,
                files=list(tree.files),
                bytes=tree.bytes,
            )
        )


@dataclass(slots=True)
class StepContext:
    """One step on its way: its emitter, its directory, and the clock that ends it."""

    run: RunContext
    emit: Emit
    directory: StepDir
    clock: asyncio.Timeout

    @contextmanager
    def deadline_held(self) -> Iterator[None]:
        """Let the step's deadline stand still: what happens meanwhile is not the step's own time."""
        loop = asyncio.get_running_loop()
        deadline, began = self.clock.when(), loop.time()
        if deadline is None or self.clock.expired():
            yield
            return
        self.clock.reschedule(None)
        try:
            yield
        finally:
            self.clock.reschedule(deadline + loop.time() - began)

    def has_file(self, path: str) -> bool:
        """Whether the step left a non-empty file at `path`, which is relative to its directory."""
        try:
            found = self.directory.root.resolve(path)
        except WorkspaceError:
            return False
        return found.is_file() and found.stat().st_size > 0


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How a step's own work ended, before its outputs are captured."""

    outcome: Outcome
    text: str | None = None
    reason: str | None = None
    wrapped_up: bool = False

    @classmethod
    def timed_out(cls, timeout_s: float | None, text: str | None = None) -> "StepEnd":
        """The end of a step whose own deadline passed."""
        return cls(Outcome.FAILED, text, f"timed out after {timeout_s:g} s (`timeout:`)")

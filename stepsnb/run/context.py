"""What a step sees of its run."""

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ..config import Pipeline
from ..errors import WorkspaceError
from ..events import Artifact, Emit, Event, Request
from ..llm import Cassette
from ..mcp import McpServers
from ..outcome import Outcome
from ..people import Ladder, Respond
from ..tools import AskReply, AskRequest
from ..workspace import ArtifactTree, Root, RunWorkspace, Shell, StepDir
from .asked import Asked
from .meter import Meter
from .recorder import Recorder
from .reuse import StepCache
from .scope import Scope
from .versions import JobVersions

if TYPE_CHECKING:
    from .elsewhere.ports import Executor
    from .preflight import Preflight


class AskElsewhere(Protocol):
    """Puts a question to the run that a step belongs to."""

    async def __call__(self, request: AskRequest, *, step_id: str, agent: str) -> AskReply: ...  # noqa: D102 - above


@dataclass(slots=True)
class RunContext:
    """The parts of a run that its steps share; `scope` is what the plan's own steps leave to each other.

    `cache` knows what steps left in earlier runs, None for a run that keeps nothing. `artifacts` is everything that was
    captured, whichever branch made it; of one name the last. `notes_wanted` names the steps whose note another one
    reads. `versions` is set by the run itself. `sources_passed` counts, by agent, the sources that turned out to be
    down. Whoever made the context closes its `servers`, which are opened when a step first wants them. `preflight`, set
    by the run too, probes its models. Where the run itself is elsewhere, questions go to `ask_elsewhere`. An `executor`
    runs branches and cells in other processes.
    """

    pipeline: Pipeline
    workspace: RunWorkspace
    recorder: Recorder
    ladder: Ladder
    functions: Mapping[str, Callable[..., Any]]
    versions: JobVersions = field(init=False)
    servers: McpServers = field(init=False)
    variables: Mapping[str, object] = field(default_factory=dict)
    cache: StepCache | None = None
    scope: Scope = field(default_factory=Scope)
    artifacts: dict[str, ArtifactTree] = field(default_factory=dict)
    notes_wanted: frozenset[str] = frozenset()
    questions: int = 0
    asked: Asked = field(default_factory=Asked)
    sources_passed: dict[str, int] = field(default_factory=dict)
    preflight: "Preflight | None" = None
    cassette: Cassette | None = None
    ask_elsewhere: AskElsewhere | None = None
    executor: "Executor | None" = None

    def __post_init__(self) -> None:
        self.servers = McpServers(self.pipeline.mcp_servers, self.pipeline.base_dir)

    def emitter(self, step_id: str, meter: Meter) -> Emit:
        """Return an `Emit` that files everything under one step and counts its tokens."""
        emit = self.recorder.step(step_id)

        def metered(event: Event) -> None:
            if isinstance(event, Request):
                meter.add(event)
            emit(event)

        return metered

    async def ask(self, request: AskRequest, *, step_id: str, agent: str, respond: Respond | None = None) -> AskReply:
        """Put a question to people for a step of the run, once, and record what came of it.

        Raises: Aborted when nobody answered and there is no default; InputError when a list of answers ran out.
        """
        if self.ask_elsewhere is not None:
            return await self.ask_elsewhere(request, step_id=step_id, agent=agent)
        if (known := self.asked.known(request)) is not None:
            return known

        async def ask() -> AskReply:
            self.questions += 1
            return await self.ladder.ask(
                request,
                question_id=f"{self.recorder.run_id}-{self.questions}",
                agent=agent,
                emit=self.recorder.step(step_id),
                settle=self.recorder.settle,
                respond=respond,
            )

        return await self.asked.once(request, ask)

    def keep(self, tree: ArtifactTree, emit: Emit) -> None:
        """Record a captured tree as one of the run's artifacts."""
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
class _Hold:
    """A deadline that stands still: for how many, since when, and when it was."""

    count: int = 0
    began: float = 0.0
    deadline: float = 0.0


@dataclass(slots=True)
class StepContext:
    """One step on its way: its emitter, its directory, and the clock that ends it after `timeout_s`.

    Paths of an agent's tools start at `dir`, a folder inside the directory. `outer` is the step that called this one,
    for a sub-agent's. `shell` runs its programs. `coordinates` are those of a cell. `allowed` says how long it may
    take, and `owed` what is still owed, for the reason of a step that ends without it.
    """

    run: RunContext
    scope: Scope
    step_id: str
    emit: Emit
    directory: StepDir
    clock: asyncio.Timeout
    timeout_s: float | None = None
    outer: "StepContext | None" = None
    dir: str = "."
    shell: Shell | None = None
    coordinates: Mapping[str, str] = field(default_factory=dict)
    meter: Meter = field(default_factory=Meter)
    allowed: str = ""
    owed: Callable[[], str | None] = lambda: None
    _hold: _Hold = field(default_factory=_Hold)

    @property
    def root(self) -> Root:
        """Where the paths of tools start, confined to the step's directory. Raises: PathEscape."""
        return Root(self.directory.path, self.dir)

    def within(
        self, clock: asyncio.Timeout, timeout_s: float, *, step_id: str, emit: Emit, meter: Meter
    ) -> "StepContext":
        """The context of a sub-agent of this step: the same directory, a clock, a record and a budget of its own."""
        return replace(
            self,
            step_id=step_id,
            emit=emit,
            meter=meter,
            clock=clock,
            timeout_s=None if timeout_s == math.inf else timeout_s,
            outer=self,
            owed=lambda: None,
            _hold=_Hold(),
        )

    def in_folder(self, folder: str) -> "StepContext":
        """The same step, whose tools' paths start in a folder of its directory."""
        return replace(self, dir=folder)

    @contextmanager
    def deadline_held(self) -> Iterator[None]:
        """Let the step's deadline stand still: what happens meanwhile is not the step's own time.

        It runs again when nobody holds it any more: sub-agents that work side by side may all wait for somebody.
        """
        with ExitStack() as held:
            context: StepContext | None = self
            while context is not None:
                held.enter_context(_held_still(context.clock, context._hold))
                context = context.outer
            yield

    def time_left(self) -> tuple[float, float] | None:
        """The seconds that are left and those there were at first; None where no deadline runs."""
        deadline = self.clock.when()
        if deadline is None or self.timeout_s is None:
            return None
        return max(deadline - asyncio.get_running_loop().time(), 0.0), self.timeout_s

    def has_file(self, path: str) -> bool:
        """Whether the step left a non-empty file at `path`, which is relative to its directory."""
        try:
            found = self.directory.root.resolve(path)
        except WorkspaceError:
            return False
        return found.is_file() and found.stat().st_size > 0


@contextmanager
def _held_still(clock: asyncio.Timeout, hold: _Hold) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    if hold.count == 0:
        deadline = clock.when()
        if deadline is None or clock.expired():
            yield
            return
        hold.deadline, hold.began = deadline, loop.time()
        clock.reschedule(None)
    hold.count += 1
    try:
        yield
    finally:
        hold.count -= 1
        if hold.count == 0:
            clock.reschedule(hold.deadline + loop.time() - hold.began)


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How a step's own work ended, before its outputs are captured; `data` is its typed output, `output` as JSON.

    `is_final` says that no route may catch it.
    """

    outcome: Outcome
    text: str | None = None
    reason: str | None = None
    wrapped_up: bool = False
    verdict: str | None = None
    note: str | None = None
    data: object = None
    output: str | None = None
    is_final: bool = False
    fallback_model: str | None = None

    @classmethod
    def timed_out(cls, allowed: str, text: str | None = None, owed: str | None = None) -> "StepEnd":
        """The end of a step whose own deadline passed; `allowed` is its time, `owed` what it had still to do."""
        reason = f"timed out after {allowed}"
        return cls(Outcome.FAILED, text, f"{reason}; {owed}" if owed else reason)


def allowed_time(timeout_s: float | None, attempts: int = 1) -> str:
    """Say how long a step may take; its attempts share one `timeout:`. Empty where there is none."""
    shared = f", for all {attempts} attempts together" if attempts > 1 else ""
    return f"{timeout_s:g} s (`timeout:`{shared})" if timeout_s else ""

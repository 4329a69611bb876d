"""Walks a job's plan, in one go or step by step, and judges it at its end."""

import asyncio
import os
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ..config import Step
from ..errors import InputError, StepsError, StoreError
from ..events import Emit, Note, PlanNode, Request, RunFinished, RunLeft, RunResumed, RunStarted
from ..mcp import McpServers, ResourceCalls
from ..outcome import Outcome
from ..plan import Plan, build_nodes
from ..suggest import unknown_name
from ..workspace import ArtifactTree, RunWorkspace, check_containers, finish, finish_in_thread
from .asserts import judge_job
from .context import RunContext
from .elsewhere import Spawner
from .elsewhere.spec import as_json
from .hooks import run_hooks
from .meter import Meter
from .opening import Decision
from .past import Past
from .preflight import Preflight
from .results import RunResult, StepResult
from .routing import Routing
from .step import STOPPED, unforeseen
from .stopping import accept_stop
from .turns import JobTurn
from .versions import JobVersions
from .walk import Walker

ABANDONED = "left before its last step"
"""Why an open run ended that another one took the place of."""


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a run starts from besides its plan: artifacts handed in, and the run it goes on from with its decisions.

    `past` is what of the plan is done already, up to the step `forked_at` of the run it was `forked_from`. A run
    `is_resumed` under the id it had; `question_count` questions were asked in it.
    """

    artifacts: tuple[ArtifactTree, ...] = ()
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    past: Past | None = None
    forked_from: str | None = None
    forked_at: str | None = None
    is_resumed: bool = False
    question_count: int = 0


class JobRun:
    """One run of a job. Everything here happens on the engine's loop, one call at a time."""

    def __init__(self, plan: Plan, context: RunContext, setup: RunSetup = RunSetup()) -> None:
        self._plan = plan
        self._context = context
        context.notes_wanted = plan.notes_wanted
        context.scope.decisions.update(setup.decisions)
        meter = Meter.of(plan.job.budget, f"job `{plan.job.name}`")
        for event in context.recorder.events:  # of the run before it was resumed; a cap has counted these already
            if isinstance(event, Request):
                meter.add(event)
        meter.outer, context.scope.meter = context.scope.meter.outer, meter
        context.questions = setup.question_count
        context.versions = JobVersions(
            context.pipeline, plan, context.workspace, context.recorder.run_id, ResourceCalls(context.servers)
        )
        context.preflight = Preflight(context, plan)
        self._turn = JobTurn(plan.job, context.pipeline.file, context.workspace.root)
        self._setup = setup
        step_count = 0 if setup.past is None else setup.past.step_count
        spawner = None if context.executor is None else Spawner(context.executor, context, plan)
        self._walker = Walker(context, is_overdue=self._is_overdue, past=setup.past, count=step_count, spawner=spawner)
        self._routing = Routing(plan.nodes)
        self._position = 0
        self._cells = 0
        self._outcome = Outcome.SUCCEEDED
        self._error: str | None = None
        self._began: float | None = None
        self._went_on = 0.0
        self._worked_s = 0.0
        self._finished: Outcome | None = None
        self._forked_to: str | None = None
        weakref.finalize(self, _close_if_ours, context.workspace, context.servers, os.getpid())

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._context.recorder.run_id

    @property
    def remaining(self) -> list[str]:
        """Names of the plan's steps that have not run, in order; none once the run has ended."""
        return [] if self.is_finished else [node.name for node in self._plan.nodes[self._position :]]

    def has_run(self, name: str) -> bool:
        """Whether the run has left every step of that name in its plan behind."""
        names = [node.name for node in self._plan.nodes]
        return name in names[: self._position] and name not in names[self._position :]

    @property
    def is_finished(self) -> bool:
        """Whether nothing more can happen in the run: it has ended, or was left for another one."""
        return self._finished is not None or self._forked_to is not None

    @property
    def artifacts(self) -> tuple[ArtifactTree, ...]:
        """What the run's steps left behind so far."""
        return tuple(self._context.scope.artifacts.values())

    @property
    def decisions(self) -> Mapping[str, Decision]:
        """What the run's steps decided so far, by their names."""
        return dict(self._context.scope.decisions)

    def hide(self, secrets: Sequence[str]) -> None:
        """Keep more values out of the run's events."""
        self._context.recorder.hide(secrets)

    def watch(self, watcher: Emit) -> None:
        """Show a late watcher the run's events; on the engine's thread."""
        self._context.recorder.watch(watcher)

    def result(self) -> RunResult:
        """The run as it stands."""
        return RunResult(
            run_id=self.run_id,
            job=self._plan.job.name,
            outcome=self._finished,
            error=None if self._error is None else self._context.recorder.redact(self._error),
            steps=tuple(self._context.scope.executed),
            artifacts={name: tree.path for name, tree in self._context.artifacts.items()},
            events=tuple(self._context.recorder.events),
        )

    async def run_all(self) -> RunResult:
        """Run every step that is left, then end the run."""
        return await self._guard(self._run_rest)

    async def run_next(self) -> RunResult:
        """Run the plan's next step; the last one ends the run."""
        return await self._guard(lambda: self._run_planned(self._position))

    async def run_named(self, name: str) -> RunResult:
        """Run the plan up to and including the step called `name`.

        Raises: InputError for an unknown name, or for one that this run has left behind.
        """
        self._check_open()
        names = [node.name for node in self._plan.nodes]
        if name not in names:
            raise InputError(f"job `{self._plan.job.name}`: {unknown_name('step', name, names)}")
        if self.has_run(name):
            raise InputError(f"step `{name}` has run already in run {self.run_id}; `%steps load` starts a new run")
        return await self._guard(lambda: self._run_until(names.index(name, self._position)))

    async def run_steps(self, steps: Sequence[Step]) -> RunResult:
        """Run steps that are not in the plan, with the artifacts of this run; the run stays open."""
        return await self._guard(lambda: self._run_extra(steps))

    async def finish(self) -> RunResult:
        """End the run where it stands and judge the job's assert."""
        return await self._guard(self._end)

    async def abandon(self) -> RunResult:
        """End the run unjudged, as aborted: nobody will go on with it. One that has ended or never began stays so."""
        if self.is_finished or self._began is None:
            return self.result()
        self._outcome, self._error = Outcome.ABORTED, ABANDONED
        return await self._guard(self._end)

    async def leave(self, forked_to: str) -> RunResult:
        """Leave the run where it stands, without an outcome, since the run `forked_to` goes on from it instead.

        It ends neither well nor badly: nothing is judged, and no hook runs. One that has ended or never began stays so.
        """
        if self.is_finished or self._began is None:
            return self.result()
        self._forked_to = forked_to
        self._context.recorder.emit(RunLeft(forked_to=forked_to, duration_s=time.monotonic() - self._began))
        await self._wind_up()
        return self.result()

    async def _run_rest(self) -> None:
        while self._position < len(self._plan.nodes) and self._outcome.is_good and not self._is_overdue():
            await self._visit()
        await self._end()

    async def _run_until(self, index: int) -> None:
        while self._position <= index and not self.is_finished:
            await self._run_planned(self._position)

    async def _run_planned(self, index: int) -> None:
        if index == len(self._plan.nodes):
            raise InputError(f"run {self.run_id} has no step left; `%steps finish` ends it")
        if not self._is_overdue():
            await self._visit()
        if self._position == len(self._plan.nodes) or not self._outcome.is_good:
            await self._end()

    async def _visit(self) -> None:
        """Run the plan's next step, and find the one that follows it."""
        scope, position = self._context.scope, self._position
        result = await self._walker.visit(self._routing, self._plan.nodes, position, scope)
        following = self._routing.after(position, result)
        if following is None:
            self._position = position + 1
            self._note_failure(result)
        else:
            self._position = following
        await self._context.recorder.settle()

    async def _catch_up(self) -> None:
        """Go past the steps that the run this one comes from got done; none of them runs or is recorded again."""
        while self._position < len(self._plan.nodes) and self._walker.has_done(self._plan.nodes[self._position]):
            await self._visit()

    async def _run_extra(self, steps: Sequence[Step]) -> None:
        self._cells += 1
        # Behind the plan's own, so that a view does not take them for one of them.
        first = len(self._plan.nodes) + len(self._context.scope.executed)
        for node in build_nodes(self._context.pipeline, steps, prefix=f"cell{self._cells}.", first_index=first):
            if not self._is_overdue():
                result = await self._walker.run_node(node, self._context.scope)
                if not result.outcome.is_good:
                    self._note_failure(result)
                await self._context.recorder.settle()
            if not self._outcome.is_good:
                await self._end()
                return

    def _note_failure(self, result: StepResult) -> None:
        self._outcome = result.outcome
        self._error = f"step `{result.name}` {result.outcome}: {result.reason or 'no reason was given'}"

    def _is_overdue(self) -> bool:
        """Whether the job's own time is over, which is the time in which it worked: not that between two cells."""
        limit_s = self._plan.job.timeout_s
        if not limit_s or self._worked_s + time.monotonic() - self._went_on < limit_s:
            return False
        self._outcome = Outcome.FAILED
        self._error = f"job `{self._plan.job.name}` timed out after {limit_s:g} s (`timeout:`)"
        return True

    def _check_open(self) -> None:
        if self._forked_to:
            raise InputError(f"run {self.run_id} was left for run {self._forked_to}; go on there")
        if self._finished:
            raise InputError(f"run {self.run_id} has ended ({self._finished}); `%steps load` starts a new one")

    def _start(self) -> None:
        if self._began is not None:
            return
        self._began = time.monotonic()
        context = self._context
        if self._setup.is_resumed:
            context.recorder.emit(
                RunResumed(
                    pipeline=context.pipeline.file,
                    job=self._plan.job.name,
                    forked_from=self._setup.forked_from,
                    run_history=context.pipeline.run_history(self._plan.job),
                )
            )
            for tree in self._setup.artifacts:
                context.artifacts[tree.name] = tree
                context.scope.keep(tree)
            return
        context.recorder.emit(
            RunStarted(
                pipeline=context.pipeline.file,
                job=self._plan.job.name,
                forked_from=self._setup.forked_from,
                forked_at=self._setup.forked_at,
                run_history=context.pipeline.run_history(self._plan.job),
                plan=_drawn(self._plan),
                source_text=context.pipeline.source_text,
                base_dir=str(context.pipeline.base_dir),
                variables=as_json(context.variables),
            )
        )
        for tree in self._setup.artifacts:
            context.keep(tree, context.recorder.emit)
            context.scope.keep(tree)

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> RunResult:
        """Do some of the run; whatever ends it early, its end is recorded."""
        self._check_open()
        self._went_on = time.monotonic()
        try:
            await self._stoppable(work)
        except StoreError as exc:
            await self._break_off(str(exc))
            raise
        except StepsError:
            raise  # refused before anything ran: the run stays as it was
        except (Exception, SystemExit, KeyboardInterrupt) as exc:
            await self._break_off(unforeseen(exc))
            raise
        finally:
            if self._context.cassette is not None:
                await finish_in_thread(self._context.cassette.save)  # what was paid for, however the run went
        self._worked_s += time.monotonic() - self._went_on
        return self.result()

    async def _stoppable(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            if self._began is None:
                await check_containers(self._context.pipeline, self._plan.job)
                self._start()
                await self._turn.take(lambda text: self._context.recorder.emit(Note(text=text)))
                await self._catch_up()
            await work()
        except asyncio.CancelledError:
            # Stopped between two steps; a stop within one is that step's outcome.
            accept_stop()
            if self._outcome.is_good:
                self._outcome, self._error = Outcome.ABORTED, STOPPED
            await self._end()

    async def _end(self) -> None:
        if self.is_finished:
            return
        await self._run_job_hooks()
        names = [step.name for step in self._context.scope.executed]
        outcome, error = judge_job(self._plan.job.assert_, self._outcome, self._error, names)
        for part in self._context.ladder.unused_answers:
            self._context.recorder.emit(Note(text=f"the answer given for `{part}` was not used: no question held that"))
        self._context.versions.remember(has_succeeded=outcome is Outcome.SUCCEEDED)
        self._context.recorder.emit(self._end_event(outcome, error))
        self._finished, self._error = outcome, error  # only now: an end that cannot be recorded is another one
        await self._wind_up()

    async def _run_job_hooks(self) -> None:
        """Run the job's own hooks; one that fails reddens a green job."""
        scope = self._context.scope
        outcome, reason = await run_hooks(
            self._plan.hooks, self._outcome, lambda hook: self._walker.run_node(hook, scope)
        )
        if outcome is not self._outcome:
            self._outcome, self._error = outcome, reason

    async def _break_off(self, error: str) -> None:
        """End a run that cannot go on, unjudged; its end is shown even where it cannot be stored any more."""
        if self.is_finished:
            return
        self._finished, self._error = Outcome.ERRORED, error
        recorder = self._context.recorder
        try:
            recorder.emit(self._end_event(Outcome.ERRORED, error))
        except StoreError:
            recorder.show(self._end_event(Outcome.ERRORED, error))
        with suppress(StoreError):
            await self._wind_up()

    def _end_event(self, outcome: Outcome, error: str | None) -> RunFinished:
        duration_s = time.monotonic() - (self._began or time.monotonic())
        return RunFinished(outcome=outcome, error=error, duration_s=duration_s)

    async def _wind_up(self) -> None:
        """Bring the record to the disk and clear the working directories; a stop finds the run over already."""

        async def settle_and_close() -> None:
            try:
                await self._context.servers.close()
                await self._context.recorder.settle()
            finally:
                self._turn.give_back()
                await finish_in_thread(self._context.workspace.close)

        try:
            await finish(settle_and_close())
        except asyncio.CancelledError:
            accept_stop()


def _drawn(plan: Plan) -> list[PlanNode]:
    """Return the plan as views draw it before it runs: blocks and what is inside them."""
    nodes = list(plan.walk())
    places = {id(node): place for place, node in enumerate(nodes)}
    return [PlanNode(node.name, node.kind, places.get(id(node.parent))) for node in nodes]


def _close_if_ours(workspace: RunWorkspace, servers: McpServers, pid: int) -> None:
    """Leave no folder or server of an open run that is dropped; a fork of the process drops its copies only."""
    if os.getpid() == pid:
        servers.drop()
        workspace.close()

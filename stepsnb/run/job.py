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
from ..events import Note, PlanNode, RunFinished, RunStarted
from ..outcome import Outcome
from ..plan import Plan, PlannedStep
from ..suggest import unknown_name
from ..workspace import ArtifactTree, RunWorkspace
from .asserts import judge_job
from .context import RunContext
from .opening import Decision
from .results import RunResult, StepResult
from .step import STOPPED, run_step, unforeseen
from .stopping import accept_stop, finish, finish_in_thread

ABANDONED = "left before its last step"
"""Why an open run ended that another one took the place of."""


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a run starts from besides its plan: artifacts handed in, and the run it goes on from with its decisions."""

    artifacts: tuple[ArtifactTree, ...] = ()
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    forked_from: str | None = None


class JobRun:
    """One run of a job. Everything here happens on the engine's loop, one call at a time."""

    def __init__(self, plan: Plan, context: RunContext, setup: RunSetup = RunSetup()) -> None:
        self._plan = plan
        self._context = context
        context.notes_wanted = plan.notes_wanted
        context.decisions.update(setup.decisions)
        self._setup = setup
        self._position = 0
        self._steps: list[StepResult] = []
        self._outcome = Outcome.SUCCEEDED
        self._error: str | None = None
        self._began: float | None = None
        self._went_on = 0.0
        self._worked_s = 0.0
        self._finished: Outcome | None = None
        weakref.finalize(self, _close_if_ours, context.workspace, os.getpid())

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._context.recorder.run_id

    @property
    def remaining(self) -> list[str]:
        """Names of the plan's steps that have not run, in order; none once the run has ended."""
        return [] if self._finished else [step.name for step in self._plan.steps[self._position :]]

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self._finished is not None

    @property
    def artifacts(self) -> tuple[ArtifactTree, ...]:
        """What the run's steps left behind so far."""
        return tuple(self._context.artifacts.values())

    @property
    def decisions(self) -> Mapping[str, Decision]:
        """What the run's steps decided so far, by their names."""
        return dict(self._context.decisions)

    def hide(self, secrets: Sequence[str]) -> None:
        """Keep more values out of the run's events."""
        self._context.recorder.hide(secrets)

    def result(self) -> RunResult:
        """The run as it stands."""
        return RunResult(
            run_id=self.run_id,
            job=self._plan.job.name,
            outcome=self._finished,
            error=None if self._error is None else self._context.recorder.redact(self._error),
            steps=tuple(self._steps),
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
        names = [step.name for step in self._plan.steps]
        if name not in names:
            raise InputError(f"job `{self._plan.job.name}`: {unknown_name('step', name, names)}")
        if name not in names[self._position :]:
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

    async def _run_rest(self) -> None:
        while self._position < len(self._plan.steps) and self._outcome.is_good and not self._is_overdue():
            await self._run_planned_step(self._plan.steps[self._position])
        await self._end()

    async def _run_until(self, index: int) -> None:
        while self._position <= index and not self.is_finished:
            await self._run_planned(self._position)

    async def _run_planned(self, index: int) -> None:
        if index == len(self._plan.steps):
            raise InputError(f"run {self.run_id} has no step left; `%steps finish` ends it")
        if not self._is_overdue():
            await self._run_planned_step(self._plan.steps[index])
        if self._position == len(self._plan.steps) or not self._outcome.is_good:
            await self._end()

    async def _run_extra(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if not self._is_overdue():
                # Behind the plan's own, so that a view does not take it for one of them.
                await self._run_one(step, len(self._plan.steps) + len(self._steps))
            if not self._outcome.is_good:
                await self._end()
                return

    async def _run_planned_step(self, planned: PlannedStep) -> None:
        self._position = planned.index + 1
        await self._run_one(planned.step, planned.index)

    async def _run_one(self, step: Step, index: int) -> None:
        result = await run_step(step, self._context, step_id=f"s{len(self._steps) + 1}", index=index)
        self._steps.append(result)
        if not result.outcome.is_good:
            self._outcome = result.outcome
            self._error = f"step `{result.name}` {result.outcome}: {result.reason or 'no reason was given'}"
        await self._context.recorder.settle()

    def _is_overdue(self) -> bool:
        """Whether the job's own time is over, which is the time in which it worked: not that between two cells."""
        limit_s = self._plan.job.timeout_s
        if not limit_s or self._worked_s + time.monotonic() - self._went_on < limit_s:
            return False
        self._outcome = Outcome.FAILED
        self._error = f"job `{self._plan.job.name}` timed out after {limit_s:g} s (`timeout:`)"
        return True

    def _check_open(self) -> None:
        if self._finished:
            raise InputError(f"run {self.run_id} has ended ({self._finished}); `%steps load` starts a new one")

    def _start(self) -> None:
        if self._began is not None:
            return
        self._began = time.monotonic()
        context = self._context
        context.recorder.emit(
            RunStarted(
                pipeline=context.pipeline.file,
                job=self._plan.job.name,
                forked_from=self._setup.forked_from,
                plan=[PlanNode(step.name, step.step_kind) for step in self._plan.steps],
            )
        )
        for tree in self._setup.artifacts:
            context.keep(tree, context.recorder.emit)

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
        self._worked_s += time.monotonic() - self._went_on
        return self.result()

    async def _stoppable(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            self._start()
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
        names = [step.name for step in self._steps]
        outcome, error = judge_job(self._plan.job.assert_, self._outcome, self._error, names)
        for part in self._context.ladder.unused_answers:
            self._context.recorder.emit(Note(text=f"the answer given for `{part}` was not used: no question held that"))
        self._context.recorder.emit(self._end_event(outcome, error))
        self._finished, self._error = outcome, error  # only now: an end that cannot be recorded is another one
        await self._wind_up()

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
                await self._context.recorder.settle()
            finally:
                await finish_in_thread(self._context.workspace.close)

        try:
            await finish(settle_and_close())
        except asyncio.CancelledError:
            accept_stop()


def _close_if_ours(workspace: RunWorkspace, pid: int) -> None:
    """Leave no folder of an open run that is dropped; a fork of the process drops its copies only."""
    if os.getpid() == pid:
        workspace.close()

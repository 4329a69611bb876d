"""Walks a job's plan, in one go or step by step, and judges it at its end."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ..config import Step
from ..errors import InputError, StepsError, StoreError
from ..events import PlanNode, RunFinished, RunStarted
from ..outcome import Outcome
from ..plan import Plan, PlannedStep
from ..suggest import unknown_name
from ..workspace import ArtifactTree
from .asserts import judge_job
from .context import RunContext
from .results import RunResult, StepResult
from .step import BROKEN, STOPPED, accept_cancellation, run_step


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a run starts from besides its plan: artifacts handed in, and the run it goes on from."""

    artifacts: tuple[ArtifactTree, ...] = ()
    forked_from: str | None = None


class JobRun:
    """One run of a job. Everything here happens on the engine's loop, one call at a time."""

    def __init__(self, plan: Plan, context: RunContext, setup: RunSetup = RunSetup()) -> None:
        self._plan = plan
        self._context = context
        self._setup = setup
        self._position = 0
        self._steps: list[StepResult] = []
        self._outcome = Outcome.SUCCEEDED
        self._error: str | None = None
        self._began: float | None = None
        self._finished: Outcome | None = None

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

    def result(self) -> RunResult:
        """The run as it stands."""
        return RunResult(
            run_id=self.run_id,
            job=self._plan.job.name,
            outcome=self._finished,
            error=self._error,
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
        self._check_open()
        self._start()
        await self._end()
        return self.result()

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
            await self._run_one(step)
            if not self._outcome.is_good:
                await self._end()
                return

    async def _run_planned_step(self, planned: PlannedStep) -> None:
        self._position = planned.index + 1
        await self._run_one(planned.step)

    async def _run_one(self, step: Step) -> None:
        result = await run_step(step, len(self._steps), self._context)
        self._steps.append(result)
        if not result.outcome.is_good:
            self._outcome = result.outcome
            self._error = f"step `{result.name}` {result.outcome}: {result.reason or 'no reason was given'}"
        await self._context.recorder.settle()

    def _is_overdue(self) -> bool:
        limit_s, began = self._plan.job.timeout_s, self._began
        if not limit_s or began is None or time.monotonic() - began < limit_s:
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
        self._start()
        is_open_or_ended = False
        try:
            await work()
            is_open_or_ended = True
        except asyncio.CancelledError:
            # Stopped between two steps; a stop within one is that step's outcome.
            accept_cancellation()
            self._outcome, self._error = Outcome.ABORTED, STOPPED
            await self._end()
            is_open_or_ended = True
        except StoreError as exc:
            # Nothing can be recorded any more, so the run is over here and the caller gets the reason.
            self._finished, self._error = Outcome.ERRORED, str(exc)
            await self._close()
            raise
        except StepsError:
            is_open_or_ended = True  # refused before anything ran: the run stays as it was
            raise
        finally:
            if not is_open_or_ended and not self.is_finished:
                self._outcome, self._error = Outcome.ERRORED, BROKEN
                await self._end()
        return self.result()

    async def _end(self) -> None:
        if self.is_finished:
            return
        names = [step.name for step in self._steps]
        outcome, error = judge_job(self._plan.job.assert_, self._outcome, self._error, names)
        self._finished, self._error = outcome, error
        duration_s = time.monotonic() - (self._began or time.monotonic())
        self._context.recorder.emit(RunFinished(outcome=outcome, error=error, duration_s=duration_s))
        await self._context.recorder.settle()
        await self._close()

    async def _close(self) -> None:
        await asyncio.to_thread(self._context.workspace.close)

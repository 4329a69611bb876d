"""Runs one step of any kind: directory, deadline, the kind's own work, captured outputs, the record of its end."""

import asyncio
import time
from contextlib import suppress
from typing import assert_never

from ..config import FILES_ARTIFACT, AgentStep, GetStep, Step, TaskStep
from ..errors import Aborted, InputError, StepsError, StoreError
from ..events import StepFinished, StepStarted
from ..messages import cut_utf8
from ..outcome import Outcome
from ..settings import TASK_OUTPUT_BYTES
from .context import RunContext, StepContext, StepEnd
from .opening import Decision
from .results import StepResult
from .steps import run_agent_step, run_get_step, run_task_step
from .steps.agent import agent_timeout_s
from .stopping import accept_stop, finish_in_thread

STOPPED = "stopped"
"""Why a step or run that a person or the kernel stopped ended."""


def unforeseen(exc: BaseException) -> str:
    """Say why a step or run ended whose exception nobody foresaw; that one reaches the caller."""
    return f"unforeseen {type(exc).__name__}: {exc}; its traceback says where"


async def run_step(step: Step, run: RunContext, *, step_id: str, index: int) -> StepResult:
    """Run one step to its recorded end and return how it went; `index` is its place in the plan.

    What goes wrong becomes the step's outcome, a stop included: it is *aborted* then. Raises: StoreError; and
    what nobody foresaw, recorded as *errored*.
    """
    emit = run.recorder.step(step_id)
    began = time.monotonic()

    def record(end: StepEnd) -> StepResult:
        emit(
            StepFinished(
                name=step.name,
                step_kind=step.kind,
                outcome=end.outcome,
                reason=end.reason,
                duration_s=time.monotonic() - began,
                response=None if end.text is None else cut_utf8(end.text, TASK_OUTPUT_BYTES),
                wrapped_up=end.wrapped_up,
                verdict=end.verdict,
                note=end.note,
                output=end.output,
            )
        )
        reason, text, note = (
            None if value is None else run.recorder.redact(value) for value in (end.reason, end.text, end.note)
        )
        return StepResult(step_id, step.name, step.kind, end.outcome, reason, text, end.verdict, note, end.data)

    try:
        emit(_started(step, index, run))
        return record(await _run_in_directory(step, step_id, run))
    except asyncio.CancelledError:
        accept_stop()
        return record(StepEnd(Outcome.ABORTED, reason=STOPPED))
    except Aborted as exc:
        return record(StepEnd(Outcome.ABORTED, reason=str(exc)))
    except StoreError as exc:
        with suppress(StoreError):
            record(StepEnd(Outcome.ERRORED, reason=str(exc)))
        raise
    except StepsError as exc:
        return record(StepEnd(Outcome.ERRORED, reason=str(exc)))
    except (Exception, SystemExit, KeyboardInterrupt) as exc:
        record(StepEnd(Outcome.ERRORED, reason=unforeseen(exc)))
        raise


def _started(step: Step, index: int, run: RunContext) -> StepStarted:
    started = StepStarted(name=step.name, step_kind=step.kind, index=index)
    if isinstance(step, AgentStep):
        agent = run.pipeline.agent(step.agent)
        started.agent = agent.name
        started.model = agent.source.model or run.pipeline.defaults.model
        started.tools = list(agent.tool_names if step.tools is None else step.tool_names)
    return started


async def _run_in_directory(step: Step, step_id: str, run: RunContext) -> StepEnd:
    """Give the step its directory and deadline; capture its outputs when it succeeded."""
    inputs = () if isinstance(step, GetStep) else step.inputs
    outputs = () if isinstance(step, GetStep) else step.outputs
    missing = [name for name in inputs if name not in run.artifacts]
    if missing:
        raise InputError(_missing_inputs(missing))
    trees = {name: run.artifacts[name] for name in inputs}
    directory = await finish_in_thread(run.workspace.open_step, step_id, trees, outputs)
    timeout_s = agent_timeout_s(step, run.pipeline.agent(step.agent)) if isinstance(step, AgentStep) else None
    emit = run.recorder.step(step_id)
    clock = asyncio.timeout(timeout_s)
    ctx = StepContext(run=run, step_id=step_id, emit=emit, directory=directory, clock=clock, timeout_s=timeout_s)
    try:
        async with clock:
            end = await _run_kind(step, ctx)
    except TimeoutError:
        if not clock.expired():
            raise
        return StepEnd.timed_out(timeout_s, owed=ctx.owed())
    if end.outcome is Outcome.SUCCEEDED:
        # Captured before any is handed on: a step that cannot leave all its outputs leaves none.
        captured = [await finish_in_thread(run.workspace.capture, directory, name) for name in outputs]
        for tree in captured:
            run.keep(tree, emit)
        if end.verdict is not None:
            run.decisions[step.name] = Decision(end.verdict, end.note, end.text)
    return end


async def _run_kind(step: Step, ctx: StepContext) -> StepEnd:
    match step:
        case TaskStep():
            return await run_task_step(step, ctx)
        case AgentStep():
            return await run_agent_step(step, ctx)
        case GetStep():
            return await run_get_step(step, ctx)
        case _:
            assert_never(step)


def _missing_inputs(missing: list[str]) -> str:
    names = ", ".join(f"`{name}`" for name in missing)
    is_handed_in = FILES_ARTIFACT in missing
    hint = "hand files in with `--files` (in Python `files=`)" if is_handed_in else "run what makes it first"
    return f"input {names} is not there yet; {hint}"

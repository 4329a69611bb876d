"""Runs one step of any kind: directory, deadline, the kind's own work, captured outputs, the record of its end."""

import asyncio
import time
from typing import assert_never

from ..config import AgentStep, GetStep, Step, TaskStep
from ..errors import Aborted, InputError, StepsError, StoreError
from ..events import StepFinished, StepStarted
from ..messages import cut_utf8
from ..outcome import Outcome
from ..settings import TASK_OUTPUT_BYTES
from .context import RunContext, StepContext, StepEnd
from .results import StepResult
from .steps import run_agent_step, run_get_step, run_task_step
from .steps.agent import agent_timeout_s

STOPPED = "stopped"
"""Why a step or run that a person or the kernel stopped ended."""

BROKEN = "stepsnb itself failed; the traceback says where"
"""Why a step or run ended whose exception nobody foresaw; that one reaches the caller."""


def accept_cancellation() -> None:
    """Take a stop as handled, so that what is awaited next is not cut by it."""
    if (task := asyncio.current_task()) is not None:
        task.uncancel()


async def run_step(step: Step, index: int, run: RunContext) -> StepResult:
    """Run one step to its recorded end and return how it went.

    What goes wrong becomes the step's outcome, a stop included: it is *aborted* then. Raises: StoreError.
    """
    step_id = f"s{index + 1}"
    emit = run.recorder.step(step_id)
    began = time.monotonic()
    started = StepStarted(name=step.name, step_kind=step.kind, index=index)
    end = StepEnd(Outcome.ERRORED, reason=BROKEN)
    try:
        if isinstance(step, AgentStep):
            agent = run.pipeline.agent(step.agent)
            started.agent = agent.name
            started.model = agent.source.model or run.pipeline.defaults.model
        emit(started)
        end = await _run_in_directory(step, step_id, run)
    except asyncio.CancelledError:
        accept_cancellation()
        end = StepEnd(Outcome.ABORTED, reason=STOPPED)
    except Aborted as exc:
        end = StepEnd(Outcome.ABORTED, reason=str(exc))
    except StoreError:
        raise
    except StepsError as exc:
        end = StepEnd(Outcome.ERRORED, reason=str(exc))
    finally:
        emit(
            StepFinished(
                name=step.name,
                step_kind=step.kind,
                outcome=end.outcome,
                reason=end.reason,
                duration_s=time.monotonic() - began,
                response=None if end.text is None else cut_utf8(end.text, TASK_OUTPUT_BYTES),
                wrapped_up=end.wrapped_up,
            )
        )
    return StepResult(step_id, step.name, step.kind, end.outcome, end.reason, end.text)


async def _run_in_directory(step: Step, step_id: str, run: RunContext) -> StepEnd:
    """Give the step its directory and deadline; capture its outputs when it succeeded."""
    inputs = () if isinstance(step, GetStep) else step.inputs
    outputs = () if isinstance(step, GetStep) else step.outputs
    missing = [name for name in inputs if name not in run.artifacts]
    if missing:
        raise InputError(_missing_inputs(step, missing))
    trees = {name: run.artifacts[name] for name in inputs}
    directory = await asyncio.to_thread(run.workspace.open_step, step_id, trees, outputs)
    timeout_s = _timeout_s(step, run)
    emit = run.recorder.step(step_id)
    try:
        async with asyncio.timeout(timeout_s) as clock:
            ctx = StepContext(run=run, step_id=step_id, emit=emit, directory=directory, clock=clock)
            end = await _run_kind(step, ctx)
    except TimeoutError:
        return StepEnd(Outcome.FAILED, reason=f"timed out after {timeout_s:g} s (`timeout:`)")
    if end.outcome is Outcome.SUCCEEDED:
        for name in outputs:
            run.keep(await asyncio.to_thread(run.workspace.capture, directory, name), emit)
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


def _timeout_s(step: Step, run: RunContext) -> float | None:
    match step:
        case AgentStep():
            return agent_timeout_s(step, run.pipeline.agent(step.agent))
        case TaskStep():
            return step.timeout_s or None
        case GetStep():
            return None
        case _:
            assert_never(step)


def _missing_inputs(step: Step, missing: list[str]) -> str:
    names = ", ".join(f"`{name}`" for name in missing)
    hint = "; hand files in with `--files` (in Python `files=`)" if "files" in missing else "; run what makes it first"
    return f"step `{step.name}`: input {names} is not there yet{hint}"

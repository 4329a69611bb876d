"""Runs one step of any kind: directory, deadline, the kind's own work, captured outputs, the record of its end."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from typing import assert_never

from ..config import (
    DEFAULT_TOOLS,
    FILES_ARTIFACT,
    AgentStep,
    ApprovalStep,
    DoStep,
    EnsembleStep,
    GetStep,
    InParallelStep,
    LoadVarStep,
    PutStep,
    RaceStep,
    Step,
    TaskStep,
    TryStep,
)
from ..errors import Aborted, InputError, StepsError, StoreError
from ..events import Emit, StepFinished, StepStarted
from ..messages import cut_utf8
from ..outcome import Outcome
from ..plan import Node
from ..settings import TASK_OUTPUT_BYTES
from ..workspace import ArtifactTree, Shell, StepDir, finish_in_thread, open_shell
from .context import RunContext, StepContext, StepEnd, allowed_time
from .meter import Meter
from .opening import Decision
from .results import StepResult
from .scope import Scope
from .steps import (
    run_agent_step,
    run_approval_step,
    run_get_step,
    run_load_var_step,
    run_put_step,
    run_task_step,
)
from .steps.agent import agent_timeout_s
from .stopping import accept_stop

STOPPED = "stopped"
"""Why a step or run that a person or the kernel stopped ended."""


def unforeseen(exc: BaseException) -> str:
    """Say why a step or run ended whose exception nobody foresaw; that one reaches the caller."""
    return f"unforeseen {type(exc).__name__}: {exc}; its traceback says where"


async def run_step(
    node: Node,
    run: RunContext,
    scope: Scope,
    *,
    step_id: str,
    parent_id: str | None = None,
    attempt: int = 1,
    allowed: str = "",
) -> StepResult:
    """Run one step that is no block to its recorded end, and return how it went.

    `allowed` says how long it may take, where that is not what its `timeout:` has left.

    What goes wrong becomes the step's outcome, a stop included: it is *aborted* then. Raises: StoreError; and
    what nobody foresaw, recorded as *errored*.
    """
    meter = scope.meter
    if isinstance(node.step, AgentStep):
        agent = run.pipeline.agent(node.step.agent)
        meter = Meter.of(agent.budget, f"agent `{agent.name}`", scope.meter)
    emit = run.emitter(step_id, meter)
    began = time.monotonic()

    def record(end: StepEnd) -> StepResult:
        emit(
            StepFinished(
                name=node.name,
                step_kind=node.kind,
                outcome=end.outcome,
                reason=end.reason,
                duration_s=time.monotonic() - began,
                response=None if end.text is None else cut_utf8(end.text, TASK_OUTPUT_BYTES),
                wrapped_up=end.wrapped_up,
                verdict=end.verdict,
                note=end.note,
                output=end.output,
                is_final=end.is_final,
                fallback_model=end.fallback_model,
            )
        )
        reason, text, note = (
            None if value is None else run.recorder.redact(value) for value in (end.reason, end.text, end.note)
        )
        return StepResult(
            step_id,
            node.name,
            node.kind,
            end.outcome,
            reason,
            text,
            end.verdict,
            note,
            end.data,
            is_final=end.is_final,
            output=end.output,
        )

    try:
        emit(_started(node, run, parent_id, attempt))
        return record(await _run_in_directory(node, step_id, run, scope, emit, meter, allowed))
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


def _started(node: Node, run: RunContext, parent_id: str | None, attempt: int) -> StepStarted:
    step = node.step
    started = StepStarted(
        name=node.name,
        step_kind=node.kind,
        index=node.index,
        parent_id=parent_id,
        coordinates=dict(node.coordinates),
        hash=node.hash,
        attempt=attempt,
        node=node.path,
        parts=node.fingerprint.parts,
    )
    if isinstance(step, AgentStep):
        agent = run.pipeline.agent(step.agent)
        started.agent = agent.name
        started.model = agent.source.model or run.pipeline.defaults.model
        started.tools = list(agent.tool_names if step.tools is None else step.tool_names)
    return started


async def _run_in_directory(
    node: Node, step_id: str, run: RunContext, scope: Scope, emit: Emit, meter: Meter, allowed: str
) -> StepEnd:
    """Give the step its directory and deadline; capture its outputs when it succeeded."""
    step = node.step
    trees, outputs = inputs_of(step, scope), outputs_of(step)
    only_reads = _only_reads(step, run)
    directory = await finish_in_thread(run.workspace.open_step, step_id, trees, tuple(outputs), only_reads=only_reads)
    timeout_s = _deadline_s(step, run)
    clock = asyncio.timeout(timeout_s)
    ctx = StepContext(
        run=run,
        scope=scope,
        step_id=step_id,
        emit=emit,
        directory=directory,
        clock=clock,
        timeout_s=timeout_s,
        coordinates=node.coordinates,
        meter=meter,
        allowed=allowed or allowed_time(timeout_s or getattr(step, "timeout_s", None)),
    )
    try:
        async with clock, _shell_of(step, run, directory) as ctx.shell:
            end = await _run_kind(step, ctx)
    except TimeoutError:
        if not clock.expired():
            raise
        return StepEnd.timed_out(ctx.allowed, owed=ctx.owed())
    if end.outcome is Outcome.SUCCEEDED:
        # Captured before any is handed on: a step that cannot leave all its outputs leaves none.
        captured = [
            replace(await finish_in_thread(run.workspace.capture, directory, name), name=artifact)
            for name, artifact in outputs.items()
        ]
        for tree in captured:
            run.keep(tree, emit)
            scope.keep(tree)
        if end.verdict is not None:
            scope.decisions[step.name] = Decision(end.verdict, end.note, end.text)
    return end


def _shell_of(step: Step, run: RunContext, directory: StepDir) -> AbstractAsyncContextManager[Shell]:
    """Open what runs the programs of a step: this machine, or the container of its image."""
    image, env = None, None
    if isinstance(step, TaskStep):
        image = step.image
    elif isinstance(step, AgentStep):
        agent = run.pipeline.agent(step.agent)
        image, env = agent.image, {**agent.env, **step.env}
    return open_shell(directory.path, image, env=env, run_id=run.recorder.run_id)


def _only_reads(step: Step, run: RunContext) -> bool:
    """Whether nothing in a step can write: an agent whose tools read, and no program of anybody's."""
    if not isinstance(step, AgentStep) or step.outputs:
        return False
    names = run.pipeline.agent(step.agent).tool_names if step.tools is None else step.tool_names
    return set(names) <= set(DEFAULT_TOOLS)


def _deadline_s(step: Step, run: RunContext) -> float | None:
    """Return the seconds after which a step is ended from outside; a task's program and an approval end themselves."""
    if isinstance(step, AgentStep):
        return agent_timeout_s(step, run.pipeline.agent(step.agent))
    return step.timeout_s or None if isinstance(step, GetStep | PutStep | LoadVarStep) else None


def inputs_of(step: Step, scope: Scope) -> dict[str, ArtifactTree]:
    """Return the trees a step finds in its directory, by the names it knows them by. Raises: InputError."""
    if isinstance(step, GetStep | ApprovalStep):
        return {}
    inputs = getattr(step, "inputs", ())
    names = tuple(scope.artifacts) if inputs == "all" else inputs
    mapping = getattr(step, "input_mapping", {})
    outside = {name: mapping.get(name, name) for name in names}
    missing = [artifact for artifact in outside.values() if artifact not in scope.artifacts]
    if missing:
        raise InputError(_missing_inputs(missing))
    return {name: replace(scope.artifacts[artifact], name=name) for name, artifact in outside.items()}


def outputs_of(step: Step) -> dict[str, str]:
    """Return the artifacts a step leaves, by the names of its own folders."""
    mapping = getattr(step, "output_mapping", {})
    return {name: mapping.get(name, name) for name in getattr(step, "outputs", ())}


async def _run_kind(step: Step, ctx: StepContext) -> StepEnd:
    match step:
        case TaskStep():
            return await run_task_step(step, ctx)
        case AgentStep():
            return await run_agent_step(step, ctx)
        case GetStep():
            return await run_get_step(step, ctx)
        case PutStep():
            return await run_put_step(step, ctx)
        case LoadVarStep():
            return await run_load_var_step(step, ctx)
        case ApprovalStep():
            return await run_approval_step(step, ctx)
        case DoStep() | InParallelStep() | RaceStep() | EnsembleStep() | TryStep():
            raise AssertionError(f"{step.kind} is a block")
        case _:
            assert_never(step)


def _missing_inputs(missing: list[str]) -> str:
    names = ", ".join(f"`{name}`" for name in missing)
    is_handed_in = FILES_ARTIFACT in missing
    hint = "hand files in with `--files` (in Python `files=`)" if is_handed_in else "run what makes it first"
    return f"input {names} is not there yet; {hint}"

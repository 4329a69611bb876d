"""Runs a step that is no block, again while it fails and has attempts and time left, and keeps what it left."""

import time
from collections.abc import Callable
from dataclasses import replace

from ..config import AgentStep, Step
from ..errors import InputError
from ..outcome import Outcome
from ..plan import Node
from ..workspace import ArtifactTree
from .context import RunContext, allowed_time
from .results import StepResult
from .scope import Scope
from .step import inputs_of, outputs_of, run_step


async def run_with_attempts(
    node: Node, run: RunContext, scope: Scope, *, next_id: Callable[[], str], parent_id: str | None
) -> StepResult:
    """Return how the last attempt went; all of them together have the step's own `timeout:`.

    An agent step has one: its `attempts` are those of its requests.
    """
    step, began = node.step, time.monotonic()
    inputs = _inputs_to_remember(node, run, scope)
    attempts = 1 if isinstance(step, AgentStep) else step.attempts or 1
    allowed = allowed_time(getattr(step, "timeout_s", None), attempts)
    for attempt in range(1, attempts + 1):
        limited = _with_time_left(step, time.monotonic() - began) if attempt > 1 else step
        if limited is None:
            break
        result = await run_step(
            replace(node, step=limited),
            run,
            scope,
            step_id=next_id(),
            parent_id=parent_id,
            attempt=attempt,
            allowed=allowed,
        )
        if result.outcome not in (Outcome.FAILED, Outcome.ERRORED):
            break
    if result.outcome is Outcome.SUCCEEDED and run.cache is not None and inputs is not None:
        run.cache.keep(
            node,
            inputs,
            run_id=run.recorder.run_id,
            text=result.text,
            output=result.output,
            outputs=[scope.artifacts[name] for name in outputs_of(step).values()],
        )
    return result


def _inputs_to_remember(node: Node, run: RunContext, scope: Scope) -> dict[str, ArtifactTree] | None:
    """Return the step's inputs as they are before it runs, which an output of the same name may replace."""
    if run.cache is None:
        return None
    try:
        return inputs_of(node.step, scope)
    except InputError:
        return None


def _with_time_left(step: Step, used_s: float) -> Step | None:
    """Return the step with what is left of its `timeout:`, None when nothing is."""
    limit_s = getattr(step, "timeout_s", None)
    if not limit_s:
        return step
    return step.model_copy(update={"timeout_s": limit_s - used_s}) if used_s < limit_s else None

"""Which steps may take over the result of an earlier run, and what of them has to be the same for that."""

from collections.abc import Mapping

from ..config import (
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
from .expand import is_matrix
from .node import Node


def reusable(node: Node) -> str | None:
    """Say why the result of a step is never taken over from an earlier run; None when it may be.

    For a block, whose steps are looked at one by one, it is a reason too.
    """
    if node.is_hook:
        return "hooks always run"
    step = node.step
    match step:
        case PutStep():
            return "puts always run"
        case GetStep():
            return "gets always look for a new version"
        case LoadVarStep():
            return "its file is read each time"
        case ApprovalStep():
            return "approvals are asked for each time"
        case DoStep() | TryStep() | InParallelStep() | RaceStep() | EnsembleStep():
            return "its steps are looked at one by one"
    return "its cells are looked at one by one" if is_matrix(step) else _unfit(step, node)


def inputs_of(step: Step) -> Mapping[str, str]:
    """Return the artifacts that go into a task or agent step, by the names it has for them."""
    match step:
        case TaskStep():
            return {name: step.input_mapping.get(name, name) for name in step.inputs}
        case AgentStep():
            return {name: name for name in step.inputs}
    return {}


def outputs_of(step: Step) -> Mapping[str, str]:
    """Return the artifacts that come out of a task or agent step, by the names it has for them."""
    match step:
        case TaskStep():
            return {name: step.output_mapping.get(name, name) for name in step.outputs}
        case AgentStep():
            return {name: name for name in step.outputs}
    return {}


def _unfit(step: TaskStep | AgentStep, node: Node) -> str | None:
    matrix = node.parent if node.parent is not None and is_matrix(node.parent.step) else None
    held = [step] if matrix is None else [step, matrix.step]
    if node.parent is not None and isinstance(node.parent.step, EnsembleStep):
        return "votes are asked for each time"
    if isinstance(step, AgentStep) and step.verdicts:
        return "decisions are made each time"
    if any(isinstance(each, TaskStep | AgentStep) and each.to is not None for each in held):
        return "steps with `to:` always run"
    if any(each.hooks for each in held):
        return "steps with hooks always run"
    if step.context is not None:
        return "steps that read decisions always run"
    if isinstance(step, TaskStep) and step.fix is not None:
        return "makes this chain uncacheable (fix: agent)"
    if node.fixed_by is not None:
        return f"`{node.fixed_by}` makes this chain uncacheable (fix: agent)"
    if step.volatile:
        return "volatile"
    if not step.outputs:
        return "without outputs there is nothing to reuse"
    return None

"""An `in_parallel` block: branches side by side, every failure reported."""

from collections.abc import Awaitable, Callable

from ...config import InParallelStep
from ...outcome import Outcome
from ...plan import Node
from ..branches import is_final, outcome_of, reasons_of, run_branches
from ..results import StepResult
from ..scope import Scope
from .walking import Walking

_SAID_NO = (Outcome.FAILED, Outcome.ERRORED)


async def run_in_parallel(walker: Walking, node: Node, scope: Scope, step_id: str) -> StepResult:
    """Run the branches, at most `limit` at a time; the worst of their outcomes is the block's.

    Each sees what was there before the block. With `fail_fast` the first that does not succeed stops the others.
    """
    step = node.step
    assert isinstance(step, InParallelStep)
    scopes = [scope.branch() for _ in node.children]
    results = await run_branches(
        [branch_of(walker, child, own, step_id) for child, own in zip(node.children, scopes, strict=True)],
        limit=step.limit,
        ends=lambda result: step.fail_fast and not result.outcome.is_good,
    )
    for own in scopes:
        scope.take(own)
    said_no = [result for result in results if result is not None and result.outcome in _SAID_NO]
    # Branches that `fail_fast` stopped are aborted, the block is not: nobody stopped it.
    outcome = outcome_of(said_no if step.fail_fast and said_no else results)
    return StepResult(step_id, node.name, node.kind, outcome, reasons_of(results), is_final=is_final(results))


def branch_of(walker: Walking, node: Node, scope: Scope, step_id: str) -> Callable[[], Awaitable[StepResult]]:
    """Return what runs one branch in its own scope, unless the job's time is over by then."""

    async def run() -> StepResult:
        if walker.is_overdue():
            return walker.refuse(node, scope, Outcome.FAILED, "the job's `timeout:` is over", parent_id=step_id)
        return await walker.run_branch(node, scope, parent_id=step_id)

    return run

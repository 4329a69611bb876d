"""A `race` block: the first branch that succeeds wins, the others are stopped."""

from ...outcome import Outcome
from ...plan import Node
from ..branches import outcome_of, reasons_of, run_branches
from ..results import StepResult
from ..scope import Scope
from .in_parallel import branch_of
from .walking import Walking


async def run_race(walker: Walking, node: Node, scope: Scope, step_id: str) -> StepResult:
    """Run the branches until one succeeds; only its outputs and decisions stay.

    When none does, the worst of their outcomes is the block's.
    """
    scopes = [scope.branch() for _ in node.children]
    results = await run_branches(
        [branch_of(walker, child, own, step_id) for child, own in zip(node.children, scopes, strict=True)],
        ends=_has_won,
    )
    won = next((n for n, result in enumerate(results) if result is not None and _has_won(result)), None)
    for n, own in enumerate(scopes):
        if n == won:
            scope.take(own)
        else:
            scope.executed += own.executed
    if won is None:
        return StepResult(step_id, node.name, node.kind, outcome_of(results), reasons_of(results))
    return StepResult(step_id, node.name, node.kind, Outcome.SUCCEEDED)


def _has_won(result: StepResult) -> bool:
    """Whether a branch did its work, now or in the run it is taken over from; a skipped one did none."""
    return result.outcome in (Outcome.SUCCEEDED, Outcome.REUSED)

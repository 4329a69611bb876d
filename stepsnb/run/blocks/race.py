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
        ends=lambda result: result.outcome is Outcome.SUCCEEDED,
    )
    won = next((n for n, r in enumerate(results) if r is not None and r.outcome is Outcome.SUCCEEDED), None)
    for n, own in enumerate(scopes):
        if n == won:
            scope.take(own)
        else:
            scope.executed += own.executed
    if won is None:
        return StepResult(step_id, node.name, node.kind, outcome_of(results), reasons_of(results))
    return StepResult(step_id, node.name, node.kind, Outcome.SUCCEEDED)

"""Where a sequence of steps goes on after one of them: to the next, or where its verdict or its outcome leads."""

from collections import Counter
from collections.abc import Sequence

from ..config import FAILURE, AgentStep, EnsembleStep, Step, TryStep
from ..outcome import Outcome
from ..plan import Node, position_of
from .results import StepResult


class Routing:
    """The order of one sequence of steps; remembers how often each was visited."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._visits: Counter[int] = Counter()

    def visit(self, position: int) -> str | None:
        """Count a visit of a step; the reason why it may not be visited again, None when it may."""
        node = self._nodes[position]
        self._visits[position] += 1
        limit = getattr(_routed(node.step), "max_visits", None)
        if limit is not None and self._visits[position] > limit:
            return f"visited more than {limit} times (`max_visits`)"
        return None

    def after(self, position: int, result: StepResult) -> int | None:
        """Return the position of the step that follows, None where the sequence ends with this result."""
        target = target_of(self._nodes[position], result)
        if target is None:
            return position + 1 if result.outcome.is_good else None
        return position_of([node.name for node in self._nodes], target, position)


def target_of(node: Node, result: StepResult) -> str | None:
    """Return the name a step's result leads to; None when nothing is said about it.

    `failure` catches what said no and what broke, never an abort or spent money. A step inside a `try:` is routed by
    how it really ended.
    """
    step, outcome = _routed(node.step), result.tried or result.outcome
    is_caught = outcome in (Outcome.FAILED, Outcome.ERRORED) and not result.is_final
    if isinstance(step, AgentStep | EnsembleStep) and step.routes:
        if outcome.is_good:
            return step.routes.get(result.verdict or "")
        return step.routes.get(FAILURE) if is_caught else None
    to = getattr(step, "to", None)
    if to is None or outcome is Outcome.SKIPPED:
        return None
    return (to.success if outcome.is_good else to.failure if is_caught else None) or None


def _routed(step: Step) -> Step:
    """Return the step whose routes count: that inside a `try:`."""
    while isinstance(step, TryStep):
        step = step.step
    return step

"""When a visit of a step that an earlier part of the run made need not be repeated."""

from ..config import EnsembleStep, InParallelStep, RaceStep
from ..outcome import Outcome
from ..plan import Node
from .past import Done
from .routing import target_of


def counts(node: Node, visit: Done) -> bool:
    """Whether a visit need not be repeated: of the same content, and the plan went on after it.

    It went on after a step that did not succeed where a `try` or a route caught that.
    """
    if node.hash and visit.hash and node.hash != visit.hash:
        return False
    result = visit.result
    if result.outcome.is_good:
        return True
    is_tried = node.parent is not None and node.parent.kind == "try"
    return (is_tried and result.outcome is not Outcome.ABORTED) or target_of(node, result) is not None


def is_matrix(node: Node) -> bool:
    """Whether a step runs once for each combination of values."""
    return getattr(node.step, "across", None) is not None


def is_branch(node: Node) -> bool:
    """Whether a step runs beside others, which see nothing of what it leaves."""
    outer = node.parent
    while outer is not None and outer.kind == "try":
        outer = outer.parent
    return outer is not None and (isinstance(outer.step, InParallelStep | RaceStep | EnsembleStep) or is_matrix(outer))

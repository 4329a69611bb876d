"""Builds the plan of a job."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..config import Pipeline, Step
from .node import Node, Plan


def build_plan(pipeline: Pipeline, job: str | None = None) -> Plan:
    """Plan a job, the pipeline's only one when `job` is None.

    Raises: InputError for an unknown job, or when None could mean several.
    """
    chosen = pipeline.job(job)
    builder = _Builder()
    nodes = builder.nodes(chosen.plan, None, "")
    hooks = builder.hooks(getattr(chosen, "hooks", {}), None, "")
    return Plan(chosen, nodes, hooks, frozenset(builder.notes_wanted))


def steps_inside(step: Step) -> tuple[Step, ...]:
    """Return the steps that stand inside `step`, in order; none for one that is no block."""
    inner: Any = step
    match step.kind:
        case "do" | "in_parallel" | "race":
            return tuple(inner.steps)
        case "ensemble":
            return tuple(inner.members)
        case "try":
            return (inner.step,)
    return ()


class _Builder:
    def __init__(self) -> None:
        self._count = 0
        self.notes_wanted: set[str] = set()

    def nodes(self, steps: Sequence[Step], parent: Node | None, prefix: str) -> tuple[Node, ...]:
        return tuple(self._node(step, parent, f"{prefix}{place}") for place, step in enumerate(steps))

    def hooks(self, steps: Mapping[str, Step], parent: Node | None, prefix: str) -> dict[str, Node]:
        count = self._count
        made = {}
        for when, step in steps.items():
            self._count = parent.index if parent else count
            made[when] = self._node(step, parent, f"{prefix}{when}")
        self._count = count
        return made

    def _node(self, step: Step, parent: Node | None, path: str) -> Node:
        node = Node(self._count, path, step.name, step.kind, step, parent)
        self._count += 1
        self.notes_wanted.update(_notes_read_by(step))
        node.children = self.nodes(steps_inside(step), node, f"{path}.")
        node.hooks = self.hooks(getattr(step, "hooks", {}), node, f"{path}.")
        return node


def _notes_read_by(step: Step) -> Iterator[str]:
    context = getattr(step, "context", None)
    if context is not None:
        yield from (sender for sender, how_much in context.from_.items() if how_much != "verdict")

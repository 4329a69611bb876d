"""What the fold remembers about a step or a sub-agent's conversation beside its state."""

from typing import Any

from ..events import ContextUsage
from ..settings import SUB_AGENT_DEPTH
from ..visible import one_line
from .bill import Bill
from .document import Path
from .transcript import Transcript
from .words import tokens_words

NAME_CHARACTERS = 200


def _shared(name: str) -> dict[str, Any]:
    return {
        "step_id": "",
        "name": one_line(name, NAME_CHARACTERS),
        "status": "pending",
        "agent": None,
        "model": None,
        "attempt": 1,
        "turn": 0,
        "started_at": None,
        "duration_s": None,
        "verdict": None,
        "note": None,
        "output": None,
        "output_cut": 0,
        "reason": None,
        "tool_calls": 0,
        "questions": 0,
        "items": [],
    }


def blank_step(name: str, step_kind: str, parent: int | None, visit_of: int | None = None) -> dict[str, Any]:
    """Return the state of a step of the plan before it starts.

    `parent` is the index of its block, `visit_of` that of the first visit of the same step.
    """
    own = {
        "step_kind": one_line(step_kind, NAME_CHARACTERS),
        "parent": parent,
        "visit_of": visit_of,
        "began": None,
        "context": None,
        "context_warning": None,
    }
    return {**_shared(name), **own, **Bill().figures()}


def blank_conversation(name: str, asked_by: str) -> dict[str, Any]:
    """Return the fields of a sub-agent's conversation before it starts."""
    return {**_shared(name), "asked_by": one_line(asked_by, NAME_CHARACTERS), "usage": ""}


class Node:
    """One step of the plan, or a sub-agent's conversation inside its `parent`."""

    def __init__(self, path: Path, transcript: Transcript, parent: "Node | None" = None, *, visit: int = 1) -> None:
        self.path = path
        self.transcript = transcript
        self.parent = parent
        self.visit = visit
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.bill = Bill()
        self.compact_at: int | None = None
        self._context = ""

    @property
    def lineage(self) -> list["Node"]:
        """It and what it is inside of, the step of the plan last."""
        nodes, node = [self], self.parent
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes

    def host(self) -> "Node":
        """Return where a conversation below this one is shown: itself, or the last one that may hold another."""
        return next(node for node in self.lineage if node.depth < SUB_AGENT_DEPTH)

    def use_context(self, event: ContextUsage) -> None:
        """Remember how full a sub-agent's context is."""
        of = "" if event.total is None else f" of {event.total:,}"
        self._context = f"context {event.used:,}{of}"

    def usage(self) -> str:
        """Say in one line what a sub-agent's conversation used."""
        figures = self.bill.figures()
        facts = [tokens_words(figures["tokens"], figures["cached_percent"]), figures["cost"], self._context]
        return " · ".join(filter(None, facts))

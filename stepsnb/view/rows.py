"""The rows of a run's plan tree: which row a visit of a step belongs to, and the order in which rows are read."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..events import PlanNode, StepSkipped, StepStarted, StepTakenOver
from ..outcome import Outcome
from ..visible import one_line
from .document import Document
from .node import NAME_CHARACTERS, Node, blank_step
from .transcript import Transcript
from .writer import Budget, Writer

Begun = StepStarted | StepSkipped | StepTakenOver
"""What says that a step had its turn."""

_BLOCKS = ("do", "in_parallel", "race", "ensemble")


class Rows:
    """One row for each step of the plan, and one more for each further visit of it; `nodes` are all of them.

    A row's place in `nodes` is its index in the state's `steps` for good.
    """

    def __init__(self, document: Document) -> None:
        self.nodes: list[Node] = []
        self._document = document
        self._budget = Budget()
        self._planned: list[Node | None] = []
        self._visits: dict[tuple[str, int | None], list[Node]] = {}
        self._begun = 0
        self._begun_before = 0

    def draw(self, plan: Iterable[PlanNode]) -> None:
        """Add a row for each step of the plan; a `try` has none, as it is the step inside that does something."""
        rows: list[int | None] = []
        for each in plan:
            parent = None if each.parent is None else rows[each.parent]
            if each.step_kind == "try":
                rows.append(parent)
                self._planned.append(None)
            else:
                rows.append(len(self.nodes))
                self._planned.append(self.push(each.name, each.step_kind, parent))

    def go_on(self) -> None:
        """The run is resumed: a block that did not end well goes on in the row it has."""
        self._begun_before = self._begun

    def place(self, event: Begun, parent: int | None) -> Node:
        """Return the row of a step that has its turn: the plan's, else one behind those of its earlier visits."""
        visits = self._visits.setdefault((event.node or f"{event.index} {event.name}", parent), [])
        if visits and self._goes_on(event, visits[-1]):
            return visits[-1]
        row = None if visits else self._pending(event, parent)
        if row is None:
            first = visits[0] if visits else None
            row = self.push(event.name, event.step_kind, parent, first=first, visit=len(visits) + 1)
        visits.append(row)
        self.begin(row)
        return row

    def push(self, name: str, step_kind: str, parent: int | None, *, first: Node | None = None, visit: int = 1) -> Node:
        """Add a row; one for a further visit names the row of the `first` one."""
        blank = blank_step(numbered(name, visit), step_kind, parent, None if first is None else self.index(first))
        path = self._document.push(("steps",), blank)
        node = Node(path, Transcript(Writer(self._document, (*path, "items"), self._budget)), visit=visit)
        self.nodes.append(node)
        return node

    def begin(self, row: Node) -> None:
        """Note that a row's step has its turn now."""
        self._document.set((*row.path, "began"), self._begun)
        self._begun += 1

    def index(self, row: Node) -> int:
        """Return a row's index in the state's `steps`."""
        return int(row.path[1])

    def _pending(self, event: Begun, parent: int | None) -> Node | None:
        row = self._planned[event.index] if event.index < len(self._planned) else None
        if row is None:
            return None
        shown = self._document.get(row.path)
        is_it = shown["status"] == "pending" and parent in (
            None,
            shown["parent"],
        )  # None: its block was not seen to start
        return row if is_it and shown["name"] == one_line(event.name, NAME_CHARACTERS) else None

    def _goes_on(self, event: Begun, last: Node) -> bool:
        """Whether a step goes on in the row of its last visit: a further attempt, or what is left of a block."""
        if not isinstance(event, StepStarted):
            return False
        shown = self._document.get(last.path)
        was_cut = shown["began"] < self._begun_before and shown["status"] != Outcome.SUCCEEDED
        return event.attempt > 1 or (was_cut and self._is_block(last))

    def _is_block(self, row: Node) -> bool:
        shown = self._document.get(row.path)
        cells, index = f"{shown['name']} [", self.index(row)
        return shown["step_kind"] in _BLOCKS or any(
            step["parent"] == index and step["name"].startswith(cells) for step in self._document.get(("steps",))
        )


def numbered(name: str, visit: int) -> str:
    """Return what a row is called: a second visit of `writer` is `writer (2)`."""
    shown = one_line(name, NAME_CHARACTERS)
    return shown if visit == 1 else f"{shown} ({visit})"


def in_plan_order(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows as the plan tree is read: each before what is inside it, the visits of a step side by side."""
    inside: list[list[int]] = [[] for _ in steps]
    again: list[list[int]] = [[] for _ in steps]
    roots = []
    for index, step in enumerate(steps):
        if step["visit_of"] is not None:
            again[step["visit_of"]].append(index)
        elif step["parent"] is not None:
            inside[step["parent"]].append(index)
        else:
            roots.append(index)

    def walk(index: int) -> Iterator[dict[str, Any]]:
        yield steps[index]
        for child in inside[index]:
            yield from walk(child)
        for visit in again[index]:
            yield from walk(visit)

    return [step for root in roots for step in walk(root)]


def in_order_of_time(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows as their steps had their turn; those that had none are last, in the order of the plan."""
    return sorted(steps, key=lambda step: len(steps) if step["began"] is None else step["began"])

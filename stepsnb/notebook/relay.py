"""Hands an open run's questions and events to whichever cell works on it."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..events import Event, Request, RunLeft, RunStarted, StepFinished, StepSkipped, StepStarted, StepTakenOver

if TYPE_CHECKING:
    from ..people import Answer, Asker, PendingQuestion

_OUTLINE = (RunStarted, StepStarted, StepFinished, StepSkipped, StepTakenOver, Request, RunLeft)
"""What a later cell's view tells of the steps before it: how they ended and what they cost, not what was said."""


class CellRelay:
    """The one asker and watcher of an open run; behind it, the cells take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asker: Asker | None = None
        self._watch: Callable[[Event], None] | None = None
        self._outline: list[Event] = []

    def attach(self, asker: "Asker", watch: Callable[[Event], None]) -> None:
        """Let a cell take over; its view begins with the outline of what the cells before it did."""
        with self._lock:
            for event in self._outline:
                watch(event)
            self._asker, self._watch = asker, watch

    def on_event(self, event: Event) -> None:
        """Take the run's next event, on the engine's thread."""
        with self._lock:
            if isinstance(event, _OUTLINE):
                self._outline.append(event)
            if self._watch is not None:
                self._watch(event)

    async def ask(self, question: "PendingQuestion") -> "Answer | None":
        """Ask through the cell that works on the run."""
        return None if self._asker is None else await self._asker.ask(question)

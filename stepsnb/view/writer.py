"""Adds entries to a step's transcript within what one view may hold."""

from typing import Any

from ..settings import VIEW_BRIEF_CHARACTERS, VIEW_CHARACTERS, VIEW_ITEMS
from ..visible import clip, visible
from .document import Document, Path


class Budget:
    """How many entries and how much foreign text the transcripts of one view may still hold."""

    def __init__(self) -> None:
        self.items = VIEW_ITEMS
        self.characters = VIEW_CHARACTERS

    def limit(self, wanted: int) -> int:
        """Return how much of one text is kept now: `wanted`, or little once the view is full."""
        return wanted if self.characters > 0 else min(wanted, VIEW_BRIEF_CHARACTERS)


class Writer:
    """Appends entries to the list at `path` and changes them later; a view that is full drops them silently.

    A dropped entry has the path None, and changing it does nothing, so callers need not know.
    """

    def __init__(self, document: Document, path: Path, budget: Budget) -> None:
        self._document = document
        self._path = path
        self._budget = budget
        self._is_full = False

    def below(self, path: Path, name: str) -> "Writer":
        """Return a writer for the list `name` of the entry at `path`, within the same bounds."""
        return Writer(self._document, (*path, name), self._budget)

    def push(self, kind: str, *, needed: bool = False, **fields: Any) -> Path | None:
        """Add an entry and return where it is; `needed` ones are added even to a full view."""
        self._budget.items -= 1
        if self._budget.items >= 0 or needed:
            return self._document.push(self._path, {"kind": kind, **fields})
        if not self._is_full:
            self._is_full = True
            text = "this view is full; the run goes on and its whole transcript is stored"
            self._document.push(self._path, {"kind": "note", "tone": "info", "text": text})
        return None

    def set(self, path: Path | None, **fields: Any) -> None:
        """Replace fields of an entry."""
        if path is not None:
            for name, value in fields.items():
                self._document.set((*path, name), value)

    def append(self, path: Path | None, name: str, text: str) -> None:
        """Add clipped text to a field of an entry."""
        if path is not None:
            self._budget.characters -= len(text)
            self._document.append((*path, name), text)

    def replace(self, path: Path | None, name: str, text: str) -> None:
        """Put clipped text where a field's text is, which may be the same."""
        if path is not None:
            self._budget.characters -= len(text) - len(self._document.get((*path, name)))
            self._document.set((*path, name), text)

    def limit(self, wanted: int) -> int:
        """Return how much of one text is kept now."""
        return self._budget.limit(wanted)

    def clip(self, text: str, wanted: int) -> tuple[str, int]:
        """Make foreign text visible and cut it to what is kept now; returns it and how much was left out."""
        kept, cut = clip(visible(text), self._budget.limit(wanted))
        self._budget.characters -= len(kept)
        return kept, cut

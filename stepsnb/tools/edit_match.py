"""Finds the text that an edit means, in a text whose lines end in LF: exactly, else by lines, else by a block."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

MatchMode = Literal["exact", "line-trimmed", "block-anchor"]

MAX_COUNTED = 100
"""Places that are counted; whoever hits more is told of this many."""

_ALIKE_MEAN = 0.6
_ALIKE_LEAST = 0.3
_COMPARED_CHARACTERS = 500
_COMPARED_PRODUCT = 5_000_000
"""Of the lengths of two lines that are compared, over all of a search: comparing takes time in proportion to it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the text a match is, and what is to stand there."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Found:
    """The places of the first way of matching that found any."""

    mode: MatchMode
    places: tuple[Place, ...]


def find_edit(text: str, old: str, new: str, *, every: bool = False) -> Found | None:
    """Find where `old` is to become `new`; None when no way of matching finds it.

    Each way is tried only when the stricter ones find nothing. What an inexact match replaces keeps the text's own
    spelling of every line that `old` and `new` have in common. Places overlap where `old` does, unless `every` one is
    to be replaced.
    """
    starts = _exact(text, old, step=len(old) if every else 1)
    if exact := [Place(start, start + len(old), new) for start in islice(starts, None if every else MAX_COUNTED)]:
        return Found("exact", tuple(exact))
    lines = _Lines(text)
    wanted = _split(old)
    for mode, matches in (("line-trimmed", _trimmed(lines, wanted)), ("block-anchor", _anchored(lines, wanted))):
        if found := list(islice(matches, MAX_COUNTED)):
            return Found(mode, tuple(lines.place(first, old, new) for first in found))  # type: ignore[arg-type]
    return None


def _exact(text: str, old: str, *, step: int) -> Iterator[int]:
    start = text.find(old)
    while start >= 0:
        yield start
        start = text.find(old, start + step)


def _split(text: str) -> list[str]:
    """Split into lines; the line end of the last is no line of its own."""
    return text.removesuffix("\n").split("\n")


class _Lines:
    """A text by lines, with where each begins."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.trimmed = [line.strip() for line in self.lines]
        self._text = text

    def place(self, first: int, old: str, new: str) -> Place:
        """Return the place of the lines that match those of `old` from `first` on."""
        wanted = _split(old)
        own = self.lines[first : first + len(wanted)]
        start = sum(len(line) + 1 for line in self.lines[:first])
        end = start + sum(len(line) + 1 for line in own) - 1
        replacement = _in_own_words(own, wanted, _split(new)) if new else ""
        takes_line_end = old.endswith("\n") and end < len(self._text)
        if new.endswith("\n") and (takes_line_end or not old.endswith("\n")):
            replacement += "\n"
        return Place(start, end + takes_line_end, replacement)


def _trimmed(lines: _Lines, wanted: Sequence[str]) -> Iterator[int]:
    """Yield where every line matches but for the white space around it."""
    trimmed = [line.strip() for line in wanted]
    if not any(trimmed):
        return
    for first in range(len(lines.trimmed) - len(trimmed) + 1):
        if lines.trimmed[first] == trimmed[0] and lines.trimmed[first : first + len(trimmed)] == trimmed:
            yield first


def _anchored(lines: _Lines, wanted: Sequence[str]) -> list[int]:
    """Return where the first and the last line match but for the white space around, and those between are alike.

    A search that takes too long finds nothing: what it has not seen might be the place that was meant.
    """
    trimmed = [line.strip() for line in wanted]
    if len(trimmed) < 3 or not trimmed[0] or not trimmed[-1]:
        return []
    last = len(trimmed) - 1
    likeness = _Likeness()
    found: list[int] = []
    for first in range(len(lines.trimmed) - last):
        block = lines.trimmed[first : first + last + 1]
        if (block[0], block[-1]) == (trimmed[0], trimmed[-1]) and _are_alike(block[1:-1], trimmed[1:-1], likeness):
            found.append(first)
        if likeness.is_spent:
            return []
    return found


def _are_alike(own: Sequence[str], wanted: Sequence[str], compared: "_Likeness") -> bool:
    total = 0.0
    for mine, theirs in zip(own, wanted, strict=True):
        likeness = compared.of(mine[:_COMPARED_CHARACTERS], theirs[:_COMPARED_CHARACTERS])
        if likeness < _ALIKE_LEAST:
            return False
        total += likeness
    return total >= _ALIKE_MEAN * len(own)


class _Likeness:
    """How alike lines are, as long as comparing them has not taken more than anyone waits for."""

    def __init__(self) -> None:
        self._left = _COMPARED_PRODUCT

    @property
    def is_spent(self) -> bool:
        """Whether nothing more is compared, so that no further block is found."""
        return self._left <= 0

    def of(self, mine: str, theirs: str) -> float:
        """Return the likeness of two lines, from 0 to 1."""
        if mine == theirs:
            return 1.0
        self._left -= len(mine) * len(theirs)
        matcher = difflib.SequenceMatcher(None, mine, theirs, autojunk=False)
        return matcher.ratio() if not self.is_spent and matcher.quick_ratio() >= _ALIKE_LEAST else 0.0


def _in_own_words(own: Sequence[str], old: Sequence[str], new: Sequence[str]) -> str:
    """Return `new` with the text's own spelling of the lines it has in common with `old`, and its indentation."""
    indents = _indents(own, old)
    lines: list[str] = []
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += own[start:end]
            continue
        for count, line in enumerate(new[new_start:new_end]):
            beside = min(start + count, end - 1)  # the line it stands for; where it stands for none, the one before
            if _indent(line) not in indents and beside >= 0 and _indent(line) == _indent(old[beside]) and line.strip():
                lines.append(_indent(own[beside]) + line.lstrip())
            else:
                lines.append(_reindented(line, indents))
    return "\n".join(lines)


def _indents(own: Sequence[str], old: Sequence[str]) -> dict[str, str]:
    """Map each indentation in `old` to what the text has there; those it has in several ways are left out."""
    indents: dict[str, str] = {}
    unclear: set[str] = set()
    for mine, theirs in zip(own, old, strict=True):
        if theirs.strip() and indents.setdefault(_indent(theirs), _indent(mine)) != _indent(mine):
            unclear.add(_indent(theirs))
    return {theirs: mine for theirs, mine in indents.items() if theirs not in unclear}


def _reindented(line: str, indents: dict[str, str]) -> str:
    """Indent a new line as the text does, from the deepest known indentation that it begins with."""
    indent = _indent(line)
    known = [theirs for theirs in indents if indent.startswith(theirs)]
    if not line.strip() or not known:
        return line
    nearest = max(known, key=len)
    deeper = indent[len(nearest) :]
    return indents[nearest] + _in_units_of(indents[nearest], nearest, deeper) + line.lstrip()


def _in_units_of(mine: str, theirs: str, deeper: str) -> str:
    """Write further indentation in tabs or spaces, whichever the text uses where `old` uses the other."""
    if not mine or not theirs or len({*mine}) > 1 or len({*theirs}) > 1 or mine[0] == theirs[0]:
        return deeper
    many, unit = max(len(mine), len(theirs)), min(len(mine), len(theirs))
    if many % unit:
        return deeper
    width = many // unit
    return deeper.replace(" " * width, "\t") if mine[0] == "\t" else deeper.replace("\t", " " * width)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]

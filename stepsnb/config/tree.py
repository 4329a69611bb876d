"""A YAML text as a tree that remembers where everything stands and converts nothing.

Which type a scalar has is decided by the field it is meant for (`scalars`), so the tree keeps source text.
"""

from dataclasses import dataclass
from typing import NamedTuple

Path = tuple[str | int, ...]
"""Keys and list positions from the top of a document down to one value."""

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""Plain scalars that YAML 1.2 core reads as null."""

_SHOWN_CHARACTERS = 60


class Mark(NamedTuple):
    """A place in a text; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar as written; `is_plain` means that it stood without quotes and is no block text.

    `waits_for` are the variables in it that have no value yet, as a step sets them during the run.
    """

    text: str
    mark: Mark
    is_plain: bool = True
    is_null: bool = False
    waits_for: frozenset[str] = frozenset()

    @property
    def shown(self) -> str:
        """The text as a message quotes it: its first line, cut when long."""
        first, *more = self.text.splitlines() or [""]
        if more or len(first) > _SHOWN_CHARACTERS:
            return first[:_SHOWN_CHARACTERS].rstrip() + "…"
        return first


class Items(list["Tree"]):
    """A sequence and where it begins."""

    __slots__ = ("mark", "path")

    def __init__(self, mark: Mark, path: Path) -> None:
        super().__init__()
        self.mark = mark
        self.path = path


class Entries(dict[str, "Tree"]):
    """A mapping, where it begins, and where each of its keys stands."""

    __slots__ = ("key_marks", "mark", "path")

    def __init__(self, mark: Mark, path: Path) -> None:
        super().__init__()
        self.mark = mark
        self.path = path
        self.key_marks: dict[str, Mark] = {}

    def put(self, key: str, value: "Tree", mark: Mark) -> None:
        """Add `key`, written at `mark`."""
        self[key] = value
        self.key_marks[key] = mark

    def text(self, key: str) -> str | None:
        """Return the source text of a scalar entry; None when there is no such entry or it is no scalar."""
        value = self.get(key)
        return value.text if isinstance(value, Scalar) else None


Tree = Scalar | Items | Entries


def descend(tree: Tree, path: Path) -> tuple[Tree, Path]:
    """Follow `path` as far as the tree goes; returns what is there and the part that was followed.

    A step that leads nowhere is passed over, since the path may name a field that has no key of its own.
    """
    followed: list[str | int] = []
    for part in path:
        match tree, part:
            case Entries(), str() if part in tree:
                tree = tree[part]
            case Items(), int() if part < len(tree):
                tree = tree[part]
            case _:
                continue
        followed.append(part)
    return tree, tuple(followed)

"""The problems of one text: collected while it is read, raised together, each with its place."""

import re
from dataclasses import dataclass

from ..errors import ConfigError
from .labels import label_of
from .tree import Mark, Path, Tree

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Where:
    """The place of something in a pipeline file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Problems:
    """What is wrong with one text; `root` is its tree, once there is one, and names the parts of it."""

    def __init__(self, file: str, *, job: str | None = None) -> None:
        self.file = file
        self.root: Tree | None = None
        self._job = job
        self._found: dict[tuple[Mark, str], Path] = {}
        self._lost: set[Mark] = set()
        self._adopted: list[str] = []

    def add(self, mark: Mark, path: Path, text: str) -> None:
        """Note that what stands at `path` is wrong; saying the same thing twice counts once."""
        if mark not in self._lost:
            self._found.setdefault((mark, text), path)

    def add_lost(self, mark: Mark, path: Path, text: str) -> None:
        """Note that there is no telling which value was meant at `mark`, so that nothing else is said about it."""
        self._found.setdefault((mark, text), path)
        self._lost.add(mark)

    def where(self, mark: Mark) -> Where:
        """Return `mark` as a place in this file."""
        return Where(self.file, mark.line, mark.column)

    def adopt(self, other: "Problems") -> None:
        """Take over the problems of a file that this one includes; they are told after its own."""
        self._adopted += [line for line in other.lines() if line not in self._adopted]

    def __bool__(self) -> bool:
        return bool(self._found or self._adopted)

    def error(self) -> ConfigError:
        """Build the error to raise: one line for each problem, in the order of the text."""
        return ConfigError("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """Return one line for each problem, in the order of the text."""
        ordered = sorted(self._found.items(), key=lambda found: found[0][0])
        return [*(self._line(mark, path, text) for (mark, text), path in ordered), *self._adopted]

    def raise_all(self) -> None:
        """Raise `error()` when there is a problem."""
        if self:
            raise self.error()

    def _line(self, mark: Mark, path: Path, text: str) -> str:
        label = label_of(self.root, path, job=self._job)
        line = f"{self.where(mark)}: {label}: {text}" if label else f"{self.where(mark)}: {text}"
        return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", line)

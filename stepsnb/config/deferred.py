"""What is kept of a step that uses variables set during the run, so that it can be read again with their values."""

from dataclasses import dataclass

from .tree import Entries, Path, Tree


@dataclass(frozen=True, slots=True)
class Deferred:
    """The variables a step waits for, and its text as a tree, at its place in the document `root`."""

    names: frozenset[str]
    raw: Entries
    path: Path
    root: Tree
    job: str | None = None

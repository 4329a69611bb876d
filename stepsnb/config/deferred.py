"""What is kept of a step that uses variables set during the run, so that it can be read again with their values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .tree import Entries, Path, Tree


@dataclass(frozen=True, slots=True)
class Deferred:
    """The variables a step waits for, and its text as a tree, at its place in the document `root`.

    `more` are fields of the step that stand elsewhere, and `job` names the job of a cell's step.
    """

    names: frozenset[str]
    raw: Entries
    path: Path
    root: Tree
    more: Mapping[str, Any] = field(default_factory=dict)
    job: str | None = None

"""A task that several steps share."""

from typing import ClassVar

from pydantic import Field

from .scalars import Name, Text
from .task_keys import TaskKeys

_MISPLACED = {
    **dict.fromkeys(
        ("assert", "context", "across", "to", "when", "on_success", "on_failure", "on_error", "on_abort", "ensure"),
        "is for steps; write it on the `task:` step that uses this entry",
    ),
    "task": "names a step; an entry of `tasks:` has a `name:`",
}


class TaskDocument(TaskKeys):
    """A task in a file of its own, without its name."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        **_MISPLACED,
        "name": "is given by the entry that loads this file; remove it",
        "file": "cannot stand in a file that is loaded itself; write its keys here",
        "run_file": "cannot stand in a file that is loaded itself; write the program under `run:`",
    }

    @classmethod
    def keys(cls) -> frozenset[str]:
        """Return the YAML keys this concept has."""
        return super().keys() - {"run_file"}


class TaskEntry(TaskKeys):
    """One entry of `tasks:`; its keys win over those of the document `file` names."""

    misplaced_keys: ClassVar[dict[str, str]] = _MISPLACED

    name: Name
    file: Text | None = Field(
        default=None, description="A YAML file with any of the other keys.", exclude=True, repr=False
    )

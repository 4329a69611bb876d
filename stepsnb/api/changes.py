"""What the steps of a run changed in their artifacts, as a diff."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from html import escape
from pathlib import Path
from typing import Literal

from ..errors import InputError, WorkspaceError
from ..events import Artifact, Event, StepStarted
from ..suggest import unknown_name
from ..visible import visible
from ..workspace import Root, decode_text

_COMPARED_BYTES = 1_000_000
_SHOWN_LINES = 2_000


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a step added, changed or removed; `path` begins with the artifact's name.

    `diff` is a unified diff, None where there is none to read: a file that is no text, is gone, or is over 1 MB.
    """

    step: str
    path: str
    kind: Literal["added", "changed", "removed"]
    diff: str | None


class Changes(tuple[FileChange, ...]):
    """What steps changed, file by file, in the order of the run; shown as one diff, as text whatever it holds."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The diff of all files, whole."""
        return "\n".join(_drawn(change) for change in self)

    def __repr__(self) -> str:
        lines = (visible(self.text) or "nothing was changed").split("\n")
        cut = [f"… {len(lines) - _SHOWN_LINES:,} more lines in `.text`"] if len(lines) > _SHOWN_LINES else []
        return "\n".join([*lines[:_SHOWN_LINES], *cut])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def changes_of(events: Sequence[Event], root: Path, step: str | None) -> Changes:
    """Compare each artifact that a step (every one when None) left with what it had of the same name before.

    Raises: InputError for a step that has not run, or when the files are gone.
    """
    names = {event.step_id: event.name for event in events if isinstance(event, StepStarted)}
    if step is not None and step not in names.values():
        raise InputError(f"changes: {unknown_name('step', step, names.values())}")
    found: list[FileChange] = []
    before: dict[str, Artifact] = {}
    for event in events:
        if not isinstance(event, Artifact):
            continue
        name = names.get(event.step_id)
        if name is not None and step in (None, name):
            found.extend(_compared(name, before.get(event.name), event, root))
        before[event.name] = event
    return Changes(found)


def _compared(step: str, before: Artifact | None, after: Artifact, root: Path) -> Iterator[FileChange]:
    if before is not None and before.digest == after.digest:
        return
    old = _Files(root, before)
    new = _Files(root, after)
    for path in sorted({*old.paths, *new.paths}):
        kind: Literal["added", "changed", "removed"] = "changed"
        if path not in old.paths or path not in new.paths:
            kind = "added" if path in new.paths else "removed"
        first, second = old.read(path), new.read(path)
        if kind == "changed" and first == second and first is not None:
            continue
        yield FileChange(step, f"{after.name}/{path}", kind, _diff(f"{after.name}/{path}", kind, first, second))


class _Files:
    """The files of an artifact, none where there is no artifact."""

    def __init__(self, root: Path, artifact: Artifact | None) -> None:
        self.paths = frozenset(artifact.files if artifact is not None else ())
        self._folder = None if artifact is None else root / artifact.path
        self._name = "" if artifact is None else artifact.name

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes; empty where it is not there, None where it is too large to compare."""
        if path not in self.paths or self._folder is None:
            return b""
        try:
            with Root(self._folder).open_read(path) as file:
                raw = file.read(_COMPARED_BYTES + 1)
        except (OSError, WorkspaceError) as exc:
            raise InputError(f"`{self._name}/{path}` cannot be read any more ({exc}); run its step again") from exc
        return raw if len(raw) <= _COMPARED_BYTES else None


def _diff(path: str, kind: str, first: bytes | None, second: bytes | None) -> str | None:
    if first is None or second is None:
        return None
    texts = [decode_text(raw) for raw in (first, second)]
    if texts[0] is None or texts[1] is None:
        return None
    names = ("/dev/null" if kind == "added" else f"a/{path}", "/dev/null" if kind == "removed" else f"b/{path}")
    lines = [text.text.splitlines() for text in texts if text is not None]
    return "\n".join(unified_diff(lines[0], lines[1], *names, lineterm=""))


def _drawn(change: FileChange) -> str:
    return change.diff or f"{change.kind}: {change.path} (no text to compare)"

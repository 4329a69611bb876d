"""Runs and their files, looked at again."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, WorkspaceError
from ..events import Artifact
from ..run import result_of
from ..settings import SHOWN_FILE_BYTES
from ..store import Store, run_events
from ..suggest import unknown_name
from ..visible import visible
from ..workspace import Root, decode_text, trim_partial
from .options import PathLike, RunPlace, store_root
from .run import Run

if TYPE_CHECKING:
    import pandas as pd


def show(run: "str | Run", *, store: PathLike | None = None) -> Run:
    """Return a run of the store as it was when it ended, or as far as it got: its texts, files, cost and events.

    Shown in a cell it looks as it did there. Typed output is plain JSON.

    Raises: InputError for an unknown run; StoreError.
    """
    if isinstance(run, Run):
        return run
    root = store_root(store)
    return Run(result_of(run_events(Store(root), run), root), RunPlace({"store": root}))


def open_files(artifact: str, *, store: PathLike | None = None) -> "ArtifactFiles":
    """Look at what a run left: `RUN/ARTIFACT` for all files of an artifact, `RUN/ARTIFACT/PATH` for one.

    Nothing is copied. `.df()` of it lists the files, `.text` is that of a single file.

    Raises: InputError for an unknown run, artifact or file; StoreError.
    """
    run_id, _, rest = artifact.partition("/")
    name, _, path = rest.partition("/")
    if not name:
        raise InputError(f"`{artifact}` names no artifact; write RUN/ARTIFACT, or RUN/ARTIFACT/PATH for one file of it")
    root = store_root(store)
    kept = {event.name: event for event in run_events(Store(root), run_id) if isinstance(event, Artifact)}
    if name not in kept:
        raise InputError(f"run {run_id}: {unknown_name('artifact', name, kept)}")
    files = list(kept[name].files)
    if path:
        below = [each for each in files if each == path or each.startswith(path.rstrip("/") + "/")]
        if not below:
            raise InputError(f"run {run_id}: artifact `{name}`: {unknown_name('file', path, files)}")
        files = below
    return ArtifactFiles(f"{run_id}/{name}", root / kept[name].path, tuple(files))


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A file as it is shown: its size in bytes, and its text up to a bound, None for what is no text."""

    path: str
    bytes: int
    text: str | None

    @property
    def is_cut(self) -> bool:
        """Whether there is more of it than is shown."""
        return self.bytes > SHOWN_FILE_BYTES


class ArtifactFiles:
    """Files of an artifact. What they hold is shown as text, whatever it looks like."""

    def __init__(self, name: str, folder: Path, files: tuple[str, ...]) -> None:
        self.name = name
        self._folder = folder
        self._files = files

    @property
    def files(self) -> list[ArtifactFile]:
        """The files, each with the start of its text. Raises: InputError when the artifact is gone."""
        return [self._file(path) for path in self._files]

    @property
    def text(self) -> str:
        """The text of the only file, whole. Raises: InputError when there are several, or when it is no text."""
        if len(self._files) != 1:
            raise InputError(
                f"`{self.name}` has {len(self._files)} files; name one: {', '.join(self._files) or 'none'}"
            )
        decoded = decode_text(self._read(self._files[0], None))
        if decoded is None:
            raise InputError(f"`{self.name}/{self._files[0]}` is no text; take it out with `copy`")
        return decoded.text

    def df(self) -> "pd.DataFrame":
        """One row a file: path (text), bytes (int64), text (its start, missing for what is no text)."""
        import pandas as pd

        rows = [(each.path, each.bytes, each.text) for each in self.files]
        return pd.DataFrame(rows, columns=["path", "bytes", "text"]).astype(
            {"path": "string", "bytes": "int64", "text": "string"}
        )

    def __repr__(self) -> str:
        shown = [f"{visible(each.path)} ({each.bytes:,} bytes){_body(each)}" for each in self.files]
        return f"{visible(self.name)}\n" + "\n".join(shown or ["no files"])

    def _repr_html_(self) -> str:
        is_open = " open" if len(self._files) == 1 else ""
        parts = [
            f"<details{is_open}><summary><code>{escape(visible(each.path))}</code> ({each.bytes:,} bytes)</summary>"
            f"<pre>{escape(_shown(each))}</pre></details>"
            for each in self.files
        ]
        return f"<div><strong>{escape(visible(self.name))}</strong>{''.join(parts) or '<p>no files</p>'}</div>"

    def _file(self, path: str) -> ArtifactFile:
        raw = self._read(path, SHOWN_FILE_BYTES)
        size = (self._folder / path).stat().st_size
        decoded = decode_text(raw if size <= len(raw) else trim_partial(raw))
        return ArtifactFile(path, size, None if decoded is None else decoded.text)

    def _read(self, path: str, limit: int | None) -> bytes:
        try:
            with Root(self._folder).open_read(path) as file:
                return bytes(file.read() if limit is None else file.read(limit))
        except (OSError, WorkspaceError) as exc:
            raise InputError(f"`{self.name}/{path}` cannot be read any more ({exc}); run its step again") from exc


def _shown(file: ArtifactFile) -> str:
    if file.text is None:
        return "no text"
    return visible(file.text) + ("\n…" if file.is_cut else "")


def _body(file: ArtifactFile) -> str:
    return "" if file.text is None else "\n" + "\n".join(f"    {line}" for line in _shown(file).splitlines())

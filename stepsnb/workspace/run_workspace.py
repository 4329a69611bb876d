"""The directories of one run: a fresh one for each step, and the artifacts that steps leave behind."""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import WorkspaceError
from ..settings import SPILL_DIR
from .own_folder import OwnFolder
from .paths import Root, kind_of
from .sharing import link_file
from .taking import taking_artifacts
from .trees import ArtifactTree, UnfitEntry, copy_tree, digest_tree, remove_tree

_WORK = "stepsnb-work"
"""What the folder of working directories is called outside a store, where other things may be beside it."""


@dataclass(frozen=True, slots=True)
class StepDir:
    """The directory a step works in: its inputs and its outputs, each a folder of its own."""

    path: Path
    root: Root


class RunWorkspace:
    """Makes step directories below `work/` of a store and keeps their outputs below `artifacts/`, named by content.

    Close it: working directories go then, artifacts stay. What a killed process left in `work/` goes when a later
    run starts. Several threads may use it at the same time.

    Args:
        work_root: A folder for the directories of steps instead, such as one on a faster disk; it is made when it is
            missing, and only the folder `stepsnb-work` in it is used.
    """

    def __init__(self, store_root: Path, run_id: str, *, work_root: Path | None = None) -> None:
        self.root = store_root.absolute()  # a notebook may change its folder while the run is open
        self._artifacts = self.root / "artifacts"
        # Artifacts are put together inside the store, from where they can be moved to their place at once.
        self._incoming = OwnFolder(self.root / "work", _file_name(run_id))
        self._steps = self._incoming
        if work_root is not None:
            self._steps = OwnFolder(work_root.absolute() / _WORK, _file_name(run_id))

    def relative(self, path: Path) -> str:
        """Write a path inside the store relative to the store's folder, with `/`."""
        return path.relative_to(self.root).as_posix()

    def open_step(
        self,
        step_id: str,
        inputs: Mapping[str, ArtifactTree],
        outputs: Sequence[str],
        *,
        only_reads: bool = False,
    ) -> StepDir:
        """Make a step's directory: copies of its inputs, and empty outputs.

        A name that is both starts as the input's copy. A step that is opened again gets a fresh directory.

        Args:
            only_reads: Nothing in the step can write: it runs no program, and its tools only read. Its inputs are then
                the store's own files under a second name instead of copies.

        Raises: WorkspaceError.
        """
        path = _new_folder(self._steps, _file_name(step_id))
        for name, tree in inputs.items():
            with _explained(f"input `{name}`"):
                _check_name(name)
                if not tree.path.is_dir():
                    raise WorkspaceError("its artifact is gone from the store; run the step that makes it again")
                (path / name).mkdir()
                copy_tree(tree.path, path / name, copy=link_file if only_reads and name not in outputs else None)
        for name in outputs:
            with _explained(f"output `{name}`"):
                _check_name(name)
                (path / name).mkdir(exist_ok=name in inputs)
        return StepDir(path, Root(path))

    def capture(self, step_dir: StepDir, name: str) -> ArtifactTree:
        """Keep a step's output as an artifact; call it for steps that succeeded.

        Raises: WorkspaceError when the output is gone or holds what cannot be kept.
        """
        folder = step_dir.path / name
        with _explained(f"output `{name}`"):
            try:
                mode = folder.lstat().st_mode
            except FileNotFoundError:
                raise WorkspaceError(f"its folder is gone; a step leaves what it makes in `{name}/`") from None
            if not stat.S_ISDIR(mode):
                raise WorkspaceError(f"it became {kind_of(mode)}; a step leaves what it makes in the folder `{name}/`")
            try:
                return self.add_tree(name, lambda tree: copy_tree(folder, tree, is_ignored=_is_spilled))
            except UnfitEntry as exc:
                raise WorkspaceError(f"{exc}, which an artifact cannot hold; let the step remove or copy it") from exc

    def add_tree(self, name: str, fill: Callable[[Path], None]) -> ArtifactTree:
        """Make an artifact of what `fill` puts into the empty folder it is given.

        The tree appears in the store at once and whole, or not at all.
        """
        folder = self.begin_tree()
        try:
            fill(folder)
            return self.keep_tree(name, folder)
        finally:
            remove_tree(folder)

    def begin_tree(self) -> Path:
        """Make an empty folder for what `keep_tree` is to make an artifact of; whoever asks for it removes it."""
        return _new_folder(self._incoming, "incoming")

    def keep_tree(self, name: str, folder: Path) -> ArtifactTree:
        """Make an artifact of a folder that `begin_tree` made; it is gone, or of no more use, afterwards.

        Raises: UnfitEntry, OSError.
        """
        tree = digest_tree(folder, name)
        kept = self._artifacts / tree.digest
        self._artifacts.mkdir(exist_ok=True)
        with taking_artifacts(self.root):
            try:
                folder.rename(kept)
            except OSError as exc:
                if exc.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                # Another step has left the same content: its copy serves both.
            os.utime(kept)
        return replace(tree, path=kept)

    def copy_tree(self, name: str, folder: Path) -> ArtifactTree:
        """Make an artifact of a copy of a folder. Raises: UnfitEntry, OSError."""
        return self.add_tree(name, lambda tree: copy_tree(folder, tree))

    def close(self) -> None:
        """Remove the run's working directories; what may not be removed stays behind."""
        self._steps.close()
        self._incoming.close()


def _new_folder(place: OwnFolder, stem: str) -> Path:
    with _explained("working directory"):
        return place.new(stem)


def _is_spilled(path: str) -> bool:
    return path.rpartition("/")[2] == SPILL_DIR


def _file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".")[:100] or "_"


def _check_name(name: str) -> None:
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise WorkspaceError("an artifact's name is one part of a path, without `/`")


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    """Say what failed in front of why, and translate what the operating system raises."""
    try:
        yield
    except WorkspaceError as exc:
        raise type(exc)(f"{what}: {exc}") from exc
    except OSError as exc:
        raise WorkspaceError(f"{what}: {explain_os_error(exc)}") from exc


def explain_os_error(exc: OSError) -> str:
    """Say what went wrong with a file or folder, and what to do where that is known."""
    place = f" (`{exc.filename}`)" if exc.filename else ""
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full{place}; free some space, or keep the store elsewhere"
    return f"{(exc.strerror or str(exc)).lower()}{place}"

"""A run's own folder, which is removed with the run, or by a later one when the run's process was killed."""

import contextlib
import fcntl
import itertools
import os
import threading
import time
from pathlib import Path

from .trees import remove_tree

_ABANDONED_S = 600.0
"""A folder nobody owns is left alone until this old: its owner may just be about to claim it."""


class OwnFolder:
    """The folder `name` in `base`, ours for as long as this process lives; made when something is to be put into it.

    Everything else in `base` is taken for such folders of other runs. Several threads may use it at the same time.
    """

    def __init__(self, base: Path, name: str) -> None:
        self._path = base / name
        self._lock: int | None = None
        self._giving = threading.Lock()
        self._given: set[str] = set()
        self._count = itertools.count(1)

    def new(self, stem: str) -> Path:
        """Make an empty folder called `stem`, or nearly so when that name was given before. Raises: OSError.

        No name is given twice, also when its folder is gone: who moved it away may be about to remove what it left.
        """
        with self._giving:
            if self._lock is None:
                self._claim()
            name = stem
            while name in self._given or not _is_made(self._path / name):
                name = f"{stem}.{next(self._count)}"
            self._given.add(name)
        return self._path / name

    def close(self) -> None:
        """Remove it; what may not be removed stays behind, and so does a folder that somebody else made meanwhile."""
        if self._lock is None:
            return
        remove_tree(self._path)
        os.close(self._lock)
        self._lock = None

    def _claim(self) -> None:
        """Lock the folder, and remove those beside it whose process has ended without doing so."""
        self._path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _try_lock(self._lock)
        for other in self._path.parent.iterdir():
            with contextlib.suppress(OSError):  # tidying up for others never fails a run
                if time.time() - other.stat().st_mtime > _ABANDONED_S:
                    _remove_if_abandoned(other)


def _is_made(folder: Path) -> bool:
    try:
        folder.mkdir()
    except FileExistsError:  # a killed process has left it
        return False
    return True


def _remove_if_abandoned(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _try_lock(descriptor):
            remove_tree(folder)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by the process of a running run, or a file system without locks
        return False
    return True

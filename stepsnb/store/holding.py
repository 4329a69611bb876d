"""Keeps a run in its store while somebody is about to go on with it or to fork it."""

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..errors import StoreError
from .folder import PRIVATE_FILE, check_path

_FOLDER: Final = "held"


@contextlib.contextmanager
def hold_run(root: Path, run_id: str) -> Iterator[None]:
    """Keep a run from being removed as long as the block lasts; what is read of it inside stays there.

    The hold ends with the process. A run that was removed before is as unknown as it is without a hold, and so is
    every run of a store that does not exist.

    Raises: StoreError.
    """
    check_path(root)
    if not root.exists():
        yield
        return
    path = _path(root, run_id)
    try:
        path.parent.mkdir(0o700, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as exc:
        raise StoreError(f"cannot hold run {run_id} in store `{root}`: {exc.strerror}") from exc
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)
        yield
    finally:
        os.close(fd)


def is_held(root: Path, run_id: str) -> bool:
    """Whether a process holds the run; a file that a hold left behind goes.

    Under the store's lock the answer lasts: who holds the run later cannot read it before that lock is free.
    """
    path = _path(root, run_id)
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    path.unlink(missing_ok=True)
    return False


def _path(root: Path, run_id: str) -> Path:
    return root / _FOLDER / (re.sub(r"[^A-Za-z0-9._-]", "_", run_id).lstrip(".")[:100] or "_")

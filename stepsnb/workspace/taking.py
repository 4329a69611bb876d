"""Takes artifacts of a store into use: one that was taken is not deleted as unused before its run can name it.

Whoever deletes artifacts holds the lock alone, and leaves those whose folder has a newer time than the runs under way.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from ..settings import ARTIFACT_LOCK


@contextlib.contextmanager
def taking_artifacts(store_root: Path) -> Iterator[None]:
    """Let nobody delete an artifact while the block lasts; keep it short. Raises: OSError."""
    fd = os.open(store_root / ARTIFACT_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)
        yield
    finally:
        os.close(fd)


def take_artifact(store_root: Path, path: Path) -> bool:
    """Take the artifact at `path` into use; return False when it is gone."""
    try:
        with taking_artifacts(store_root):
            os.utime(path)
    except OSError:
        return path.is_dir()  # a store that can only be read: nobody deletes anything there
    return True

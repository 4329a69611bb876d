"""Where things are inside a store's folder, and how the folder comes to be."""

import contextlib
import os
from pathlib import Path
from typing import Final

from ..errors import StoreError

DATABASE: Final = "store.duckdb"
LOCK: Final = "store.lock"
SPOOL: Final = "spool"
SEGMENT_SUFFIX: Final = ".jsonl"

_PRIVATE_FOLDER: Final = 0o700
PRIVATE_FILE: Final = 0o600

_UNUSABLE: Final = {"?": "a `?`", "\\": "a backslash", "\0": "a NUL"}
"""What DuckDB takes for something else in the path of a database, or the system in any path."""


def check_path(root: Path) -> None:
    """Refuse a folder that runs could be recorded in but never be read from.

    Raises: StoreError.
    """
    try:
        path = str(root.absolute())
    except FileNotFoundError as exc:
        raise StoreError(f"store `{root}`: the current folder is gone; change to one that exists") from exc
    shown = path.encode("utf-8", "backslashreplace").decode()
    found = next((what for sign, what in _UNUSABLE.items() if sign in path), None)
    if found is None and shown != path:
        found = "a name that is not UTF-8"
    if found is not None:
        advice = "name another with `store=` or `--store`"
        raise StoreError(f"store `{shown}`: no store can be read from a path with {found}; {advice}")


def prepare_folder(root: Path) -> Path:
    """Create the store's folder with its spool folder and a `.gitignore` of its own; return the spool folder.

    Transcripts hold whatever a model read, so what is created here is for its owner alone.
    """
    spool = root / SPOOL
    if spool.is_dir():
        return spool
    try:
        root.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
        spool.mkdir(_PRIVATE_FOLDER, exist_ok=True)
        create_private(root / ".gitignore", b"*\n")
        flush_folder(root)
        with contextlib.suppress(PermissionError):  # a folder one may create in but not list
            flush_folder(root.parent)
    except OSError as exc:
        raise StoreError(f"cannot create store `{root}`: {exc.strerror}; name another with `store=`") from exc
    return spool


def flush_folder(folder: Path) -> None:
    """Block until the names in a folder are on the disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def create_private(path: Path, content: bytes = b"") -> None:
    """Create a file that only its owner may read, unless something is there already."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    except FileExistsError:
        return
    with os.fdopen(fd, "wb") as file:
        file.write(content)

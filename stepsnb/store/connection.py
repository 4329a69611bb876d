"""Opening and closing a DuckDB database, and what its errors mean to the person whose store it is.

Only `session` may use this on a store's database: it holds the lock that DuckDB's own does not replace.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import StoreError
from ..settings import STORE_POLL_S, STORE_THREADS, STORE_WAIT_S

if TYPE_CHECKING:
    import duckdb

_INTERRUPTED: Final = "Query interrupted"
"""What DuckDB's Python client makes of a SIGINT, in a `RuntimeError`; Python's own handler is then not called."""

_connected_in: list[int] = []
"""The process of each connection that is open; those of another process were inherited by a fork."""


def was_forked_while_connected() -> bool:
    """Whether this process was forked from one with an open database, which DuckDB would go on to share."""
    return any(pid != os.getpid() for pid in _connected_in)


@contextlib.contextmanager
def connected(path: str) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Hold a connection to the database at `path`; times come out in UTC.

    Raises: StoreError if another program keeps the file open; `duckdb.Error`.
    """
    db = _connect(path)
    pid = os.getpid()
    _connected_in.append(pid)
    try:
        db.execute("SET TimeZone = 'UTC'")
        db.execute("SET enable_progress_bar = false")  # DuckDB prints one in notebooks and `python -c`
        yield db
    finally:
        _connected_in.remove(pid)
        db.close()


def _connect(path: str) -> "duckdb.DuckDBPyConnection":
    import duckdb

    threads = min(STORE_THREADS, os.cpu_count() or 1)
    deadline = time.monotonic() + STORE_WAIT_S
    while True:
        try:
            return duckdb.connect(path, config={"threads": threads, "autoinstall_known_extensions": False})
        except duckdb.IOException as exc:
            if "Could not set lock" not in str(exc):
                raise
            if time.monotonic() > deadline:
                raise StoreError(f"`{path}` is open in a program other than stepsnb; close it there ({exc})") from exc
        time.sleep(STORE_POLL_S)


def is_damage(exc: "duckdb.Error") -> bool:
    """Whether an error is about the database file rather than about a query."""
    import duckdb

    about_files = (duckdb.IOException, duckdb.InternalException, duckdb.FatalException, duckdb.SerializationException)
    return isinstance(exc, about_files) or "corrupt" in str(exc).lower()


@contextlib.contextmanager
def translated_errors(root: Path) -> Iterator[None]:
    """Turn what DuckDB raises inside the block into a `StoreError` that says what to do.

    An interrupt that reaches a query is the `KeyboardInterrupt` it was meant as.
    """
    import duckdb

    try:
        yield
    except RuntimeError as exc:
        if str(exc) == _INTERRUPTED:
            raise KeyboardInterrupt from exc
        raise
    except duckdb.Error as exc:
        if not is_damage(exc):
            raise StoreError(f"store `{root}`: {exc}") from exc
        what = str(exc).partition("\n")[0]
        advice = (
            "free some space; what was recorded is safe"
            if "No space left" in what
            else f'rebuild it from its spools, which hold everything: `stepsnb.Store("{root}").rebuild()`'
        )
        raise StoreError(f"the database of store `{root}` cannot be read ({what}); {advice}") from exc

"""Short sessions with a store's database: one at a time over all processes, everything ingested first.

DuckDB 2 reads a file's header before it takes its own lock and does not read it again, so two processes that take
turns by DuckDB's lock alone lose committed rows. Our lock is therefore held from before the database is opened
until after it is closed, and the file is never opened by path in any other way.
"""

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import StoreError
from ..settings import STORE_POLL_S, STORE_WAIT_S
from .connection import connected, translated_errors, was_forked_while_connected
from .folder import DATABASE, LOCK, PRIVATE_FILE, SPOOL, check_path, prepare_folder
from .holder import describe_holder
from .ingest import Ingested, ingest
from .removal import take_out_removed
from .retention import apply_retention
from .schema import migrate

if TYPE_CHECKING:
    import duckdb


_HEADERS_BYTES: Final = 3 * 4096
"""A DuckDB file shorter than its three headers is one whose creation was cut off."""


class DamagedSpool(UserWarning):
    """Part of a spool could not be read, so events are missing from the tables."""


class Store:
    """The runs recorded under one folder. Cheap to make; holds nothing open between sessions.

    Raises: StoreError for a folder whose path DuckDB cannot open.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        check_path(self.root)
        self._pid = os.getpid()

    @contextlib.contextmanager
    def session(self) -> Iterator["duckdb.DuckDBPyConnection"]:
        """Open the database with everything recorded so far in it; others wait until the block ends.

        Results must be fetched inside the block. A store that does not exist reads as an empty one and is not
        created. Where a spool turns out to be damaged, a `DamagedSpool` warning says what is missing.

        Raises: StoreError if the database cannot be opened or read, is from a newer stepsnb, or stays in use by
            another process; and after a fork.
        """
        self._refuse_after_fork()
        if not self.root.exists():
            with translated_errors(self.root), connected(":memory:") as db:
                migrate(db)
                yield db
            return
        with self._turn(), translated_errors(self.root), self._open() as db:
            found = self._bring_up_to_date(db)
            if found.damage:
                lines = "\n".join(map(str, found.damage))
                warnings.warn(f"store `{self.root}` has damaged spools:\n{lines}", DamagedSpool, stacklevel=3)
            yield db

    def rebuild(self) -> int:
        """Throw the database away and make it anew from the spools; return how many events it holds.

        Raises: StoreError as `session` does, and when a spool is damaged: the database then holds everything
            that could be read, and the message says what could not.
        """
        self._refuse_after_fork()
        if not self.root.exists():
            raise StoreError(f"there is no store `{self.root}` to rebuild; name the folder runs were recorded in")
        with self._turn(), translated_errors(self.root):
            (self.root / DATABASE).unlink(missing_ok=True)
            with self._open() as db:
                found = self._bring_up_to_date(db)
                (count,) = db.execute("SELECT count(*) FROM events").fetchone() or (0,)
        if found.damage:
            lines = "\n".join(map(str, found.damage))
            raise StoreError(f"store `{self.root}` was rebuilt, but not all of its spools could be read:\n{lines}")
        return int(count)

    def _refuse_after_fork(self) -> None:
        if os.getpid() != self._pid:
            raise StoreError(
                f"store `{self.root}` was opened before this process was forked; make a new `Store` in the child"
            )
        if was_forked_while_connected():
            raise StoreError(
                "a session with a store was open when this process was forked; "
                f"read `{self.root}` in a process of its own"
            )

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for, and hold, the right to open the database."""
        from filelock import FileLock, Timeout

        prepare_folder(self.root)
        path = self.root / LOCK
        lock = FileLock(path, timeout=STORE_WAIT_S, mode=PRIVATE_FILE)
        try:
            lock.acquire(poll_interval=STORE_POLL_S)
        except Timeout as exc:
            raise StoreError(
                f"store `{self.root}` has been in use by {describe_holder(path)} for {STORE_WAIT_S:.0f} s; "
                f"try again when that has ended"
            ) from exc
        except OSError as exc:
            raise StoreError(f"cannot lock store `{self.root}`: {exc.strerror}") from exc
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def _open(self) -> Iterator["duckdb.DuckDBPyConnection"]:
        path = self.root / DATABASE
        is_new = not path.exists() or path.stat().st_size < _HEADERS_BYTES
        if is_new:
            # Changes logged for a database that is gone must not be applied to the new one.
            for leftover in self.root.glob(f"{DATABASE}*"):
                if leftover.is_file():
                    leftover.unlink()
        # Absolute: `~/…` and `s3:/…` are folders here, and something else to DuckDB.
        with connected(str(path.absolute())) as db:
            if is_new:
                path.chmod(PRIVATE_FILE)
            yield db

    def _bring_up_to_date(self, db: "duckdb.DuckDBPyConnection") -> Ingested:
        migrate(db)
        take_out_removed(db, self.root)
        found = ingest(db, self.root / SPOOL)
        apply_retention(db, self.root)
        return found

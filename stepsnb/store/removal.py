"""Removes runs from a store: first their names go to a file, then their rows, then their files.

The file `removed` decides: a run whose name is in it is gone for every reader, whatever of it is still in a spool, so
that a removal that was cut off is completed by the next session, and a database made anew from the spools does not
bring back parts of a run.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import StoreError
from .folder import PRIVATE_FILE, flush_folder
from .records import decode_record, encode_record
from .segments import flush_to_disk

if TYPE_CHECKING:
    import duckdb

REMOVED: Final = "removed"
"""Of the store's folder: one record a run that was removed, its payload the run's id."""

_OF_RUNS: Final = """
SELECT table_name FROM information_schema.tables JOIN information_schema.columns USING (table_schema, table_name)
WHERE table_schema = 'main' AND table_type = 'BASE TABLE' AND column_name = 'run_id' AND table_name <> 'removed_runs'
ORDER BY table_name IN ('events', 'run_starts', 'run_ends'), table_name
"""
"""Every table with rows of runs; what the others are about comes last."""


def removed_runs(root: Path) -> list[str]:
    """Return the ids of the runs that were removed, in order; a record that was never finished names none."""
    return [payload.decode() for _, payload in _records(root / REMOVED)]


def record_removal(root: Path, run_ids: Sequence[str]) -> None:
    """Put runs on record as removed; once this returns they are, even if everything after it is cut off.

    Only who holds the store's lock may call it. Raises: StoreError.
    """
    path = root / REMOVED
    seq = max((seq for seq, _ in _records(path)), default=-1) + 1
    lines = b"".join(encode_record(seq + index, run_id.encode()) for index, run_id in enumerate(run_ids))
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            size = os.fstat(fd).st_size
            is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            # What a kill cut off is closed first, so that it cannot spoil the line that follows it.
            _write_all(fd, b"\n" + lines if is_torn else lines)
            flush_to_disk(fd)
        finally:
            os.close(fd)
        flush_folder(root)
    except OSError as exc:
        raise StoreError(f"cannot remove runs from store `{root}`: {exc.strerror}") from exc


def take_out_removed(db: "duckdb.DuckDBPyConnection", root: Path) -> None:
    """Take the rows of every removed run out of the database, all of them at once.

    Call it before anything is ingested: what spools still hold of removed runs is then left out.
    """
    known = {str(row[0]) for row in db.execute("SELECT run_id FROM removed_runs").fetchall()}
    new = [run_id for run_id in dict.fromkeys(removed_runs(root)) if run_id not in known]
    if not new:
        return
    tables = [str(row[0]) for row in db.execute(_OF_RUNS).fetchall()]
    db.execute("BEGIN")
    db.execute("INSERT INTO removed_runs SELECT unnest($new::VARCHAR[]), now(), FALSE", {"new": new})
    for table in tables:
        # The name is one of our own tables, and no statement takes it as a parameter.
        db.execute(f'DELETE FROM "{table}" WHERE run_id IN (SELECT unnest($new::VARCHAR[]))', {"new": new})  # noqa: S608
    db.execute("COMMIT")


def _records(path: Path) -> list[tuple[int, bytes]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as exc:
        raise StoreError(f"cannot read `{path}`: {exc.strerror}") from exc
    return [(found.seq, found.payload) for line in lines if (found := decode_record(line)) is not None]


def _write_all(fd: int, content: bytes) -> None:
    written = 0
    while written < len(content):
        written += os.write(fd, content[written:])

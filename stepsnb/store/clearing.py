"""Deletes the files of runs that were removed: artifacts nobody names any more, and spool segments without events.

All of it may be cut off at any point and done again.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..settings import ARTIFACT_LOCK, ARTIFACT_REST_S
from .folder import SPOOL
from .segments import SegmentName

if TYPE_CHECKING:
    import duckdb

_NAMED: Final = "SELECT DISTINCT payload ->> 'path' FROM events WHERE kind = 'artifact'"

_OLDEST_AT_WORK: Final = """
SELECT epoch(min(begun)) FROM (
    SELECT run_id, max(created_at) AS begun FROM run_starts
    WHERE run_id IN (SELECT run_id FROM runs WHERE state = 'running') GROUP BY run_id
)
"""

_SEGMENTS: Final = """
WITH spans AS (
    SELECT *, coalesce(max(next_seq) OVER (
        PARTITION BY writer ORDER BY next_seq RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS first_seq
    FROM spools WHERE next_seq IS NOT NULL AND position > 0
)
SELECT segment, is_closed, count(events.writer_seq) AS kept
FROM spans LEFT JOIN events ON events.writer = spans.writer AND writer_seq >= first_seq AND writer_seq < next_seq
ANTI JOIN (SELECT DISTINCT segment FROM spool_damage) AS damaged ON damaged.segment = spans.segment
GROUP BY segment, is_closed, next_seq, first_seq
HAVING kept = 0 OR (NOT is_closed AND kept < next_seq - first_seq)
"""
"""Segments of whose events none is kept, and those that still grow and hold some that are not kept."""


def clear_files(db: "duckdb.DuckDBPyConnection", root: Path) -> None:
    """Delete what only removed runs needed; what may still be wanted stays for a later time.

    An artifact may be in use before any event names it: by a run that is under way, since it began, or by one that is
    just beginning. Those it may have taken are left alone.
    """
    is_done = _clear_segments(db, root / SPOOL)
    named = {str(row[0]) for row in db.execute(_NAMED).fetchall()} | set(_kept_resources(root))
    (oldest,) = db.execute(_OLDEST_AT_WORK).fetchone() or (None,)
    before = time.time() - ARTIFACT_REST_S
    is_done = _clear_artifacts(root, named, before if oldest is None else min(before, float(oldest))) and is_done
    _clear_results(root)
    if is_done:
        db.execute("UPDATE removed_runs SET is_cleared = TRUE WHERE NOT is_cleared")


def _clear_segments(db: "duckdb.DuckDBPyConnection", spool: Path) -> bool:
    """Delete segments of removed runs alone; return whether none is left that will be of such a kind."""
    is_done = True
    for segment, is_closed, kept in db.execute(_SEGMENTS).fetchall():
        if is_closed and kept == 0 and SegmentName.parse(segment) is not None:
            (spool / segment).unlink(missing_ok=True)
        else:
            is_done = False
    return is_done


def _clear_artifacts(root: Path, named: set[str], before: float) -> bool:
    """Delete artifacts that nobody names and that were last taken before a time; return whether none is left."""
    is_done = True
    for path in _folders(root / "artifacts"):
        if path.relative_to(root).as_posix() in named:
            continue
        with _nobody_takes_artifacts(root):
            try:
                is_resting = path.stat().st_mtime < before
                if is_resting:
                    # Out of its place at once: a tree that is half gone must not be found under its name.
                    path.rename(path.with_name(f".{path.name}.{time.time_ns()}"))
            except OSError:
                is_resting = False
        is_done = is_done and is_resting
    for path in (root / "artifacts").glob(".*.*"):
        _remove(path)
    return is_done


def _kept_resources(root: Path) -> Iterator[str]:
    """Yield the artifacts of versions that are kept for later runs."""
    for file in (root / "cache" / "resources").glob("*.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            yield str(json.loads(file.read_bytes())["path"])


def _clear_results(root: Path) -> None:
    """Delete the results of steps whose artifacts are gone."""
    for file in (root / "cache" / "steps").glob("*.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            if not all((root / output["path"]).is_dir() for output in json.loads(file.read_bytes())["outputs"]):
                file.unlink(missing_ok=True)


def _folders(folder: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []


@contextmanager
def _nobody_takes_artifacts(root: Path) -> Iterator[None]:
    fd = os.open(root / ARTIFACT_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _remove(path: Path) -> None:
    """Delete a tree, read-only folders included, as far as the system allows."""
    for folder, _, _ in os.walk(path):
        with suppress(OSError):
            Path(folder).chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)

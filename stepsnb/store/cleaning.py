"""How large a store is, and what is taken out of it when a person asks."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .clearing import clear_files
from .folder import DATABASE, SPOOL
from .frames.frame import check_run
from .holding import is_held
from .removal import record_removal, take_out_removed
from .retention import FORKS, runs_beyond
from .session import Store

if TYPE_CHECKING:
    import duckdb

_PARTS = (("spools", SPOOL), ("database", DATABASE), ("artifacts", "artifacts"), ("cache", "cache"), ("work", "work"))


@dataclass(frozen=True, slots=True)
class StorePart:
    """A part of a store's folder: how many files it has, and their bytes."""

    name: str
    files: int
    bytes: int


def store_parts(root: Path) -> list[StorePart]:
    """Measure a store: `spools` (events as they were recorded), `database` (made from them), `artifacts` (files that
    steps left), `cache` (what later runs may reuse), `work` (folders of steps), and `other`.

    Files that come and go meanwhile are counted or not.
    """
    counts = {name: [0, 0] for name, _ in _PARTS} | {"other": [0, 0]}
    names = {folder: name for name, folder in _PARTS}
    for folder, _, files in os.walk(root):
        first = Path(folder).relative_to(root).parts[:1]
        for file in files:
            try:
                size = (Path(folder) / file).lstat().st_size
            except OSError:
                continue
            top = first[0] if first else file.removesuffix(".wal")
            count = counts[names.get(top, "other")]
            count[0] += 1
            count[1] += size
    return [StorePart(name, *count) for name, count in counts.items()]


def clean_store(store: Store, *, runs: Sequence[str] = (), keep: int | None = None) -> list[str]:
    """Remove runs for good, and the files that only they needed; return the ids of the runs that are gone.

    Args:
        runs: Runs that go whatever they are; one that is under way, or that somebody goes on with, does not.
        keep: Of each job, all finished runs but so many go too, oldest first. One that a fork needs stays.

    Raises: InputError for an unknown run, or one that is under way, before anything is removed; StoreError.
    """
    with store.session() as db:
        for run_id in runs:
            check_run(db, run_id)
            found = db.execute("SELECT state FROM runs WHERE run_id = ?", [run_id]).fetchone()
            if is_held(store.root, run_id) or (found is not None and found[0] == "running"):
                raise InputError(f"run {run_id} is under way; stop it first, or leave it out")
        _check_forks(db, runs)
        beyond = [] if keep is None else [each for each in runs_beyond(db, keep) if not is_held(store.root, each)]
        gone = list(dict.fromkeys([*runs, *beyond]))
        if gone:
            record_removal(store.root, gone)
            take_out_removed(db, store.root)
        if store.root.exists():
            clear_files(db, store.root)
    return gone


def _check_forks(db: "duckdb.DuckDBPyConnection", runs: Sequence[str]) -> None:
    """Refuse to remove a run that a fork takes over from, unless that goes too."""
    for fork, origin in db.execute(FORKS).fetchall():
        if origin in runs and fork not in runs:
            raise InputError(f"run {fork} was forked from run {origin} and needs it; remove both, or leave it out")

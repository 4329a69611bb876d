"""Which runs a store keeps: of each job the latest finished ones, as many as its pipeline says.

The latest start of a job says how many (`run_history:`), and whoever reads the store next applies it. A run stays
beyond that when it has not finished, when somebody is about to go on with it, or when a run that stays was forked from
it and takes over what it got done.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from .clearing import clear_files
from .holding import is_held
from .removal import record_removal, take_out_removed

if TYPE_CHECKING:
    import duckdb

_IS_BOUNDED: Final = "SELECT 1 FROM run_starts WHERE run_history IS NOT NULL LIMIT 1"

_BEYOND: Final = """
WITH bounds AS (
    SELECT pipeline, job,
        coalesce($keep, arg_max(coalesce(run_history, 0), (created_at, seq))) AS bound   -- 0: all are kept
    FROM run_starts GROUP BY pipeline, job
),
ranked AS (
    SELECT run_id, pipeline, job, row_number() OVER (
        PARTITION BY pipeline, job ORDER BY finished_at DESC, run_id DESC
    ) AS place
    FROM runs WHERE state IN ('finished', 'left') AND started_at IS NOT NULL
)
SELECT run_id FROM ranked JOIN bounds USING (pipeline, job) WHERE bound > 0 AND place > bound ORDER BY run_id
"""

FORKS: Final = "SELECT DISTINCT run_id, forked_from FROM run_starts WHERE forked_at IS NOT NULL"


def apply_retention(db: "duckdb.DuckDBPyConnection", root: Path) -> None:
    """Remove the runs beyond what is kept, and the files that nothing needs any more.

    Raises: StoreError.
    """
    if db.execute(_IS_BOUNDED).fetchone() is not None:
        beyond = [run_id for run_id in runs_beyond(db) if not is_held(root, run_id)]
        if beyond:
            record_removal(root, beyond)
            take_out_removed(db, root)
    if db.execute("SELECT 1 FROM removed_runs WHERE NOT is_cleared LIMIT 1").fetchone() is not None:
        clear_files(db, root)


def runs_beyond(db: "duckdb.DuckDBPyConnection", keep: int | None = None) -> list[str]:
    """Return the ids of the runs that are beyond what is kept and that no kept run needs.

    `keep` is how many of each job are, in the place of what its pipeline says.
    """
    beyond = {str(row[0]) for row in db.execute(_BEYOND, {"keep": keep}).fetchall()}
    if not beyond:
        return []
    origins: dict[str, str] = dict(db.execute(FORKS).fetchall())
    for run_id in [run_id for run_id in origins if run_id not in beyond]:
        origin = origins.get(run_id)
        while origin in beyond:
            beyond.discard(origin)
            origin = origins.get(origin)
    return sorted(beyond)

"""The table of runs."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, read_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "pipeline": Dtype.TEXT,
    "job": Dtype.TEXT,
    "outcome": Dtype.TEXT,
    "state": Dtype.TEXT,
    "started_at": Dtype.TIME,
    "finished_at": Dtype.TIME,
    "duration_s": Dtype.NUMBER,
    "error": Dtype.TEXT,
    "forked_from": Dtype.TEXT,
    "tags": Dtype.TEXT,
}


def runs_df(store: Store) -> "pd.DataFrame":
    """One row a run, newest first.

    Columns: run_id, pipeline, job; outcome (an `Outcome` value, missing while there is none); state: `finished`,
        `running`, `left` when a run that was forked from it took its place before it had an outcome, or
        `interrupted` when the process that ran it is gone; started_at and finished_at (UTC); duration_s (float64,
        seconds); error (the message a person saw, or for which run it was left); forked_from (a run id); tags (JSON).
    Raises: StoreError if the store cannot be read.
    """
    with store.session() as db:
        return read_frame(db, "runs", COLUMNS, order="started_at DESC NULLS LAST, run_id DESC")

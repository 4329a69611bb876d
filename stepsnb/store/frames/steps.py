"""The table of steps."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, read_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "parent_id": Dtype.TEXT,
    "kind": Dtype.TEXT,
    "name": Dtype.TEXT,
    "coordinates": Dtype.TEXT,
    "hash": Dtype.TEXT,
    "agent": Dtype.TEXT,
    "model": Dtype.TEXT,
    "outcome": Dtype.TEXT,
    "attempt": Dtype.WHOLE,
    "reason": Dtype.TEXT,
    "started_at": Dtype.TIME,
    "finished_at": Dtype.TIME,
    "duration_s": Dtype.NUMBER,
    "verdict": Dtype.TEXT,
    "note": Dtype.TEXT,
    "response": Dtype.TEXT,
    "wrapped_up": Dtype.MAYBE,
    "fallback_model": Dtype.TEXT,
    "call_id": Dtype.TEXT,
    "output": Dtype.TEXT,
}


def steps_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row for each step that was executed, skipped or reused, oldest first; every run when `run_id` is None.

    Each conversation of a sub-agent has a row as well, of kind `sub_agent`, below the step that called it.

    Columns: run_id, step_id, parent_id (the block around it; of a sub-agent the step that called it), kind, name,
        coordinates (JSON), hash; agent and model (of an agent step); outcome (an `Outcome` value, missing while
        there is none), attempt (Int64), reason; started_at and finished_at (UTC); duration_s (float64, seconds);
        verdict and note (missing when the step decides nothing); response (an agent's last text or a task's output,
        bounded); wrapped_up (boolean); fallback_model; call_id (the tool call a sub-agent answers); output (JSON, an
        agent's typed output).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        return read_frame(db, "steps", COLUMNS, order="coalesce(started_at, finished_at), run_id, seq", run_id=run_id)

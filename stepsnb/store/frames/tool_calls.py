"""The table of tool calls."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, read_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "turn": Dtype.COUNT,
    "call_id": Dtype.TEXT,
    "tool": Dtype.TEXT,
    "args": Dtype.TEXT,
    "result": Dtype.TEXT,
    "ok": Dtype.MAYBE,
    "repaired": Dtype.FLAG,
    "promoted": Dtype.FLAG,
    "truncated": Dtype.MAYBE,
    "spilled_to": Dtype.TEXT,
    "duration_s": Dtype.NUMBER,
    "denied_by": Dtype.TEXT,
    "created_at": Dtype.TIME,
    "code": Dtype.TEXT,
}


def tool_calls_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row a tool call, oldest first; every run when `run_id` is None.

    Columns: run_id, step_id, turn (int64), call_id, tool, args (JSON as the model wrote it); result (what the model
        saw, bounded), ok and truncated (boolean), all three missing for a call that has not ended; repaired and
        promoted (bool, how the call was mended); spilled_to (the file that holds a long result); duration_s
        (float64, seconds); denied_by (what refused the call); created_at (UTC, when it ended, or began if it has
        not ended); code (of a call that failed, such as `deadline_exceeded`).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        return read_frame(db, "tool_calls", COLUMNS, order="created_at, run_id, seq", run_id=run_id)

"""The table of what was said in a run."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, read_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "step": Dtype.TEXT,
    "seq": Dtype.COUNT,
    "role": Dtype.TEXT,
    "turn": Dtype.WHOLE,
    "text": Dtype.TEXT,
    "thinking": Dtype.TEXT,
    "tool": Dtype.TEXT,
    "call_id": Dtype.TEXT,
    "args": Dtype.TEXT,
    "tool_calls": Dtype.TEXT,
    "ok": Dtype.MAYBE,
    "repaired": Dtype.FLAG,
    "truncated": Dtype.FLAG,
    "synthetic": Dtype.FLAG,
    "is_cut": Dtype.FLAG,
    "created_at": Dtype.TIME,
}


def transcript_df(store: Store, run_id: str) -> "pd.DataFrame":
    """One row a message of the run, in the order in which they came.

    Columns: run_id, step_id, step (its name), seq (int64, place among the run's events); role (`system`, `user`,
        `assistant` or `tool`), turn (Int64, of replies and results); text; thinking and tool_calls (JSON) of a
        reply; tool, call_id, args (JSON), ok (boolean), repaired and truncated of a result; synthetic (bool: stepsnb
        put the message in); is_cut (bool: all that came of a reply that never ended); created_at (UTC).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        return read_frame(db, "transcript", COLUMNS, order="seq", run_id=run_id)

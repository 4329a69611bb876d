"""The table of turns."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, read_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "turn": Dtype.COUNT,
    "model": Dtype.TEXT,
    "finish_reason": Dtype.TEXT,
    "text": Dtype.TEXT,
    "thinking": Dtype.TEXT,
    "tool_calls": Dtype.TEXT,
    "created_at": Dtype.TIME,
    "marks": Dtype.LIST,
    "synthetic": Dtype.FLAG,
}


def turns_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row a model reply, oldest first; every run when `run_id` is None.

    Columns: run_id, step_id, turn (int64, from 1 within a step), model, finish_reason; text (missing when the
        provider sent none); thinking; tool_calls (JSON: id, name and arguments of each); created_at (UTC, when the
        reply was whole); marks (a list: what was wrong with it, such as `repaired` or `truncated`); synthetic (bool:
        no model made it; it holds the calls whose results were put into the opening request, and has turn 0).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        return read_frame(db, "turns", COLUMNS, order="created_at, run_id, seq", run_id=run_id)

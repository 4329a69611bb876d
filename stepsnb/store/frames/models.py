"""The table of models: how reliable each was."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, check_run, to_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "model": Dtype.TEXT,
    "requests": Dtype.COUNT,
    "failed_requests": Dtype.COUNT,
    "retries": Dtype.COUNT,
    "replies": Dtype.COUNT,
    "tool_calls": Dtype.COUNT,
    "failed_tool_calls": Dtype.COUNT,
    "marked": Dtype.COUNT,
    "repaired": Dtype.COUNT,
    "promoted": Dtype.COUNT,
    "lost": Dtype.COUNT,
    "looped": Dtype.COUNT,
    "truncated": Dtype.COUNT,
    "dropped": Dtype.COUNT,
    "empty": Dtype.COUNT,
    "no_finish_reason": Dtype.COUNT,
    "no_usage": Dtype.COUNT,
    "ids_replaced": Dtype.COUNT,
    "context_truncated": Dtype.COUNT,
    "failed_request_rate": Dtype.NUMBER,
    "failed_tool_call_rate": Dtype.NUMBER,
    "marked_rate": Dtype.NUMBER,
}


def models_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row for each model that was used, the one with most requests first; over every run when `run_id` is None.

    Columns: model (as the pipeline names it); requests and failed_requests; retries (attempts at a reply after the
        first, replies asked to go on included); replies; tool_calls and failed_tool_calls; marked (replies with
        anything wrong with them), then replies by what it was, each counted once: repaired (arguments of a call were
        mended), promoted (a call written as text), lost (a call announced and not made), looped (the same call with
        the same result again and again), truncated (cut at the output limit), dropped (cut off by a lost
        connection), empty (neither text nor call), no_finish_reason and no_usage (the server did not say),
        ids_replaced (of calls: missing or used before), context_truncated (the server cut what it was sent);
        failed_request_rate, failed_tool_call_rate and marked_rate (float64, the share of requests, tool calls and
        replies; NaN where there are none). Counts are int64.
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        if run_id is not None:
            check_run(db, run_id)
        rows = db.execute("FROM model_report($run_id) ORDER BY requests DESC, replies DESC, model", {"run_id": run_id})
        return to_frame(rows, COLUMNS)

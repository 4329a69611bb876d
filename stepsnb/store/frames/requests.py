"""The table of model requests."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, read_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "step_id": Dtype.TEXT,
    "turn": Dtype.COUNT,
    "attempt": Dtype.COUNT,
    "model": Dtype.TEXT,
    "status": Dtype.WHOLE,
    "error": Dtype.TEXT,
    "retry_after_s": Dtype.NUMBER,
    "input_tokens": Dtype.COUNT,
    "cached_input_tokens": Dtype.COUNT,
    "cache_write_tokens": Dtype.COUNT,
    "output_tokens": Dtype.COUNT,
    "reasoning_tokens": Dtype.COUNT,
    "cost_usd": Dtype.NUMBER,
    "price_source": Dtype.TEXT,
    "latency_s": Dtype.NUMBER,
    "first_token_s": Dtype.NUMBER,
    "created_at": Dtype.TIME,
}


def requests_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row for each HTTP request to a model, oldest first; every run when `run_id` is None.

    Columns: run_id, step_id, turn, attempt (int64, from 1), model; status (Int64, missing when no response came),
        error, retry_after_s; input_tokens, cached_input_tokens, cache_write_tokens and output_tokens (int64,
        disjoint classes), reasoning_tokens (the part of the output spent on thinking); cost_usd (float64, NaN when
        the price is unknown; exact in SQL), price_source (`pipeline`, `local`, or the table of prices with the
        version that dates it); latency_s and first_token_s (float64, seconds);
        created_at (UTC, when it had ended).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        return read_frame(db, "requests", COLUMNS, order="created_at, run_id, seq", run_id=run_id)

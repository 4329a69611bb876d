"""The table of costs."""

from typing import TYPE_CHECKING, Final

from ..session import Store
from .frame import Dtype, read_frame
from .places import in_plan_order

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = {
    "run_id": Dtype.TEXT,
    "job": Dtype.TEXT,
    "step": Dtype.TEXT,
    "agent": Dtype.TEXT,
    "model": Dtype.TEXT,
    "requests": Dtype.COUNT,
    "input_tokens": Dtype.COUNT,
    "cached_input_tokens": Dtype.COUNT,
    "cache_write_tokens": Dtype.COUNT,
    "output_tokens": Dtype.COUNT,
    "cost_usd": Dtype.NUMBER,
    "price_source": Dtype.TEXT,
    "incomplete": Dtype.FLAG,
    "step_id": Dtype.TEXT,
    "kind": Dtype.TEXT,
    "parent_id": Dtype.TEXT,
}

_ORDER: Final = "started_at DESC NULLS LAST, run_id DESC, seq"


def cost_df(store: Store, run_id: str | None = None) -> "pd.DataFrame":
    """One row for each agent step and model, newest run first, then in the order of the plan; every run when None.

    What a sub-agent used has rows of its own, under its agent and model, so the rows of a run add up to its cost.

    Columns: run_id, job, step (its name), agent, model; requests (int64); input_tokens, cached_input_tokens,
        cache_write_tokens and output_tokens (int64, disjoint classes); cost_usd (float64: the sum over the requests
        whose price is known, NaN when none is); price_source (several joined by commas); incomplete (bool: the
        price of a request that may have been billed is unknown, so the true sum is higher); step_id, kind (`agent` or
        `sub_agent`) and parent_id (of a sub-agent the step that called it).
    Raises: StoreError if the store cannot be read; InputError for an unknown run.
    """
    with store.session() as db:
        return in_plan_order(db, read_frame(db, "step_costs", COLUMNS, order=_ORDER, run_id=run_id), run_id)

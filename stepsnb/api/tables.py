"""The tables of a store as DataFrames; columns are documented with each table in `stepsnb.store`.

A `run` is an id, or a run of this process itself.
"""

from typing import TYPE_CHECKING

from .. import store as frames
from .options import PathLike, store_root
from .pricing import read_prices, reprice

if TYPE_CHECKING:
    import pandas as pd

    from .pricing import Prices
    from .run import OpenRun, Run, RunHandle

    RunId = str | Run | RunHandle | OpenRun


def _store(store: PathLike | None) -> frames.Store:
    return frames.Store(store_root(store))


def id_of(run: "RunId | None") -> str | None:
    """Return a run's id; a run of this process stands for its own."""
    return run if run is None or isinstance(run, str) else run.run_id


def runs(*, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a run, newest first."""
    return frames.runs_df(_store(store))


def steps(run: "RunId | None" = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a step; of every run when `run` is None."""
    return frames.steps_df(_store(store), id_of(run))


def turns(run: "RunId | None" = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a model reply."""
    return frames.turns_df(_store(store), id_of(run))


def requests(run: "RunId | None" = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row an HTTP request to a model."""
    return frames.requests_df(_store(store), id_of(run))


def tool_calls(run: "RunId | None" = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a tool call."""
    return frames.tool_calls_df(_store(store), id_of(run))


def cost(
    run: "RunId | None" = None, *, prices: "Prices | None" = None, store: PathLike | None = None
) -> "pd.DataFrame":
    """Tokens and US dollars by step, agent and model; `incomplete` where a price is unknown.

    `prices` are others than those of then: `{MODEL: {input, output, cache_read, cache_write}}`, US dollars per million
    tokens, or a YAML file with them (a pipeline, say). `price_source` is `given` then, and a model that the prices lack
    has no cost.

    Raises: InputError for what is no price; StoreError.
    """
    found = frames.cost_df(_store(store), id_of(run))
    if prices is None:
        return found
    return reprice(found, requests(run, store=store), read_prices(prices))


def models(run: "RunId | None" = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a model: requests, replies and tool calls, how many failed, and what was wrong with replies."""
    return frames.models_df(_store(store), id_of(run))


def trajectory(run: "RunId", *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a tool call of a run, in order; a sub-agent's behind the call it answers."""
    return frames.trajectory_df(_store(store), id_of(run) or "")


def transcript(run: "RunId", *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a message of a run or a note about it, in order."""
    return frames.transcript_df(_store(store), id_of(run) or "")


def sql(query: str, *, store: PathLike | None = None) -> "pd.DataFrame":
    """Run a reading DuckDB query over every table of the store."""
    return frames.sql_df(_store(store), query)

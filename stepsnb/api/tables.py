"""The tables of a store as DataFrames; columns are documented with each table in `stepsnb.store`."""

from typing import TYPE_CHECKING

from .. import store as frames
from .options import PathLike, store_root

if TYPE_CHECKING:
    import pandas as pd


def _store(store: PathLike | None) -> frames.Store:
    return frames.Store(store_root(store))


def runs(*, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a run, newest first."""
    return frames.runs_df(_store(store))


def steps(run: str | None = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a step; of every run when `run` is None."""
    return frames.steps_df(_store(store), run)


def turns(run: str | None = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a model reply."""
    return frames.turns_df(_store(store), run)


def requests(run: str | None = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row an HTTP request to a model."""
    return frames.requests_df(_store(store), run)


def tool_calls(run: str | None = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a tool call."""
    return frames.tool_calls_df(_store(store), run)


def cost(run: str | None = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """Tokens and US dollars by step, agent and model; `incomplete` where a price is unknown."""
    return frames.cost_df(_store(store), run)


def models(run: str | None = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a model: requests, replies and tool calls, how many failed, and what was wrong with replies."""
    return frames.models_df(_store(store), run)


def questions(run: str | None = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a question that was asked, with its answer and who gave it."""
    return frames.questions_df(_store(store), run)


def trajectory(run: str, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a tool call of a run, in order; a sub-agent's behind the call it answers."""
    return frames.trajectory_df(_store(store), run)


def transcript(run: str, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a message of a run or a note about it, in order."""
    return frames.transcript_df(_store(store), run)


def sql(query: str, *, store: PathLike | None = None) -> "pd.DataFrame":
    """Run a reading DuckDB query over every table of the store."""
    return frames.sql_df(_store(store), query)

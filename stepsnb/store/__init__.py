"""Where runs are kept: events appended to spools, and a DuckDB database made from them whenever someone reads."""

from .cleaning import StorePart, clean_store, store_parts
from .frames import (
    approvals_df,
    cost_df,
    find_question,
    models_df,
    questions_df,
    requests_df,
    runs_df,
    sql_df,
    steps_df,
    tool_calls_df,
    trajectory_df,
    transcript_df,
    turns_df,
)
from .holding import hold_run
from .read import job_events, run_events, run_state
from .removal import removed_runs
from .session import DamagedSpool, Store
from .spool import Spool, open_spool

__all__ = [
    "DamagedSpool",
    "Spool",
    "Store",
    "StorePart",
    "approvals_df",
    "clean_store",
    "cost_df",
    "find_question",
    "hold_run",
    "job_events",
    "models_df",
    "open_spool",
    "questions_df",
    "removed_runs",
    "requests_df",
    "run_events",
    "run_state",
    "runs_df",
    "sql_df",
    "steps_df",
    "store_parts",
    "tool_calls_df",
    "trajectory_df",
    "transcript_df",
    "turns_df",
]

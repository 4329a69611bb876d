"""The tables of a store as DataFrames; pandas is imported when one is asked for."""

from .cost import cost_df
from .models import models_df
from .questions import approvals_df, find_question, questions_df
from .requests import requests_df
from .runs import runs_df
from .sql import sql_df
from .steps import steps_df
from .tool_calls import tool_calls_df
from .trajectory import trajectory_df
from .transcript import transcript_df
from .turns import turns_df

__all__ = [
    "approvals_df",
    "cost_df",
    "find_question",
    "models_df",
    "questions_df",
    "requests_df",
    "runs_df",
    "sql_df",
    "steps_df",
    "tool_calls_df",
    "trajectory_df",
    "transcript_df",
    "turns_df",
]

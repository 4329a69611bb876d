"""What the front ends call: each verb once, the same from Python, a magic and the command line."""

from .outputs import copy
from .pipeline import LoadedPipeline, load
from .run import OpenRun, Run, RunHandle
from .tables import cost, questions, requests, runs, sql, steps, tool_calls, transcript, turns

__all__ = [
    "LoadedPipeline",
    "OpenRun",
    "Run",
    "RunHandle",
    "copy",
    "cost",
    "load",
    "questions",
    "requests",
    "runs",
    "sql",
    "steps",
    "tool_calls",
    "transcript",
    "turns",
]

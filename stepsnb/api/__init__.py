"""What the front ends call: each verb once, the same from Python, a magic and the command line."""

from .again import replay, resume, start_replay, start_resume
from .mcp import mcp
from .outputs import copy
from .pipeline import LoadedPipeline, load
from .plan import plan
from .run import OpenRun, Run, RunHandle
from .tables import cost, models, questions, requests, runs, sql, steps, tool_calls, trajectory, transcript, turns
from .watching import watch

__all__ = [
    "LoadedPipeline",
    "OpenRun",
    "Run",
    "RunHandle",
    "copy",
    "cost",
    "load",
    "mcp",
    "models",
    "plan",
    "questions",
    "replay",
    "requests",
    "resume",
    "runs",
    "sql",
    "start_replay",
    "start_resume",
    "steps",
    "tool_calls",
    "trajectory",
    "transcript",
    "turns",
    "watch",
]

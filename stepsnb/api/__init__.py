"""What the front ends call: each verb once, the same from Python, a magic and the command line."""

from .again import replay, resume, start_replay, start_resume
from .answers import answer, approvals, approve, questions, reject
from .mcp import mcp
from .outputs import copy
from .pipeline import LoadedPipeline, load
from .plan import plan
from .probing import preflight
from .run import OpenRun, Run, RunHandle
from .spend_cap import cap
from .tables import cost, models, requests, runs, sql, steps, tool_calls, trajectory, transcript, turns
from .watching import watch

__all__ = [
    "LoadedPipeline",
    "OpenRun",
    "Run",
    "RunHandle",
    "answer",
    "approvals",
    "approve",
    "cap",
    "copy",
    "cost",
    "load",
    "mcp",
    "models",
    "plan",
    "preflight",
    "questions",
    "reject",
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

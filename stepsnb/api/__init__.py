"""What the front ends call: each verb once, the same from Python, a magic and the command line."""

from .again import replay, resume, start_replay, start_resume
from .answers import answer, approvals, approve, questions, reject
from .comparing import RunDiff, compare_runs, diff
from .freezing import Frozen, freeze
from .keeping import store_verb
from .mapping import map_rows
from .mcp import mcp
from .outputs import copy
from .picking import PipelinePicker
from .pipeline import LoadedPipeline, load, run_job
from .plan import plan
from .plotting import TextPicture, plot, plot_text
from .probing import preflight
from .run import OpenRun, Run, RunHandle
from .spend_cap import cap
from .stored import ArtifactFiles, open_files, show
from .tables import cost, models, requests, runs, sql, steps, tool_calls, trajectory, transcript, turns
from .testing import check_execution, run_tests, validate
from .varying import Variant, Varied, start_variants, vary
from .watching import watch

__all__ = [
    "ArtifactFiles",
    "Frozen",
    "LoadedPipeline",
    "OpenRun",
    "PipelinePicker",
    "Run",
    "RunDiff",
    "RunHandle",
    "TextPicture",
    "Variant",
    "Varied",
    "answer",
    "approvals",
    "approve",
    "cap",
    "check_execution",
    "compare_runs",
    "copy",
    "cost",
    "diff",
    "freeze",
    "load",
    "map_rows",
    "mcp",
    "models",
    "open_files",
    "plan",
    "plot",
    "plot_text",
    "preflight",
    "questions",
    "reject",
    "replay",
    "requests",
    "resume",
    "run_job",
    "run_tests",
    "runs",
    "show",
    "sql",
    "start_replay",
    "start_resume",
    "start_variants",
    "steps",
    "store_verb",
    "tool_calls",
    "trajectory",
    "transcript",
    "turns",
    "validate",
    "vary",
    "watch",
]

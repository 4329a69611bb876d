"""Executes a plan: steps, artifacts, outcomes, asserts; one event stream of what happened."""

from .context import RunContext
from .ids import new_run_id
from .job import JobRun, RunSetup
from .opening import Decision
from .recorder import Recorder, Sink
from .results import RunResult, StepResult, total_cost_usd, total_usage

__all__ = [
    "Decision",
    "JobRun",
    "Recorder",
    "RunContext",
    "RunResult",
    "RunSetup",
    "Sink",
    "StepResult",
    "new_run_id",
    "total_cost_usd",
    "total_usage",
]

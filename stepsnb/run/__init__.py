"""Executes a plan: steps, artifacts, outcomes, asserts; one event stream of what happened."""

from .compare import Difference, compare
from .context import RunContext
from .freezing import observed
from .ids import new_run_id
from .job import JobRun, RunSetup
from .opening import Decision
from .past import Past, handed_in, past_of
from .preflight import SourceCheck, agents_in, check_source
from .recorded import result_of
from .recorder import Recorder, Sink
from .redaction import REDACTED
from .results import RunResult, StepResult, total_cost_usd, total_usage
from .reuse import StepCache

__all__ = [
    "REDACTED",
    "Decision",
    "Difference",
    "JobRun",
    "Past",
    "Recorder",
    "RunContext",
    "RunResult",
    "RunSetup",
    "Sink",
    "SourceCheck",
    "StepCache",
    "StepResult",
    "agents_in",
    "check_source",
    "compare",
    "handed_in",
    "new_run_id",
    "observed",
    "past_of",
    "result_of",
    "total_cost_usd",
    "total_usage",
]

"""The magics: `%%steps`, `%%agent`, and the verbs of `%steps`, one file each."""

from .agent import AGENT
from .cap import CAP
from .copy import COPY
from .cost import COST
from .finish import FINISH
from .help import help_verb
from .load import LOAD
from .mcp import MCP
from .models import MODELS
from .next import NEXT
from .plan import PLAN
from .preflight import PREFLIGHT
from .questions import ANSWER, APPROVALS, APPROVE, QUESTIONS, REJECT
from .replay import REPLAY
from .resume import RESUME
from .run import RUN
from .runs import RUNS
from .step import STEP
from .steps import STEPS, is_step_list
from .trajectory import TRAJECTORY
from .transcript import TRANSCRIPT
from .verb import Verb
from .watch import WATCH

__all__ = ["CELL_MAGICS", "VERBS", "Verb", "is_step_list"]

_RUNNING = (LOAD, PLAN, NEXT, STEP, RUN, FINISH, WATCH, RESUME, REPLAY)
_LOOKING = (RUNS, COST, CAP, MODELS, PREFLIGHT, MCP, TRAJECTORY, TRANSCRIPT, COPY)
_ANSWERING = (QUESTIONS, ANSWER, APPROVALS, APPROVE, REJECT)
_LINES = (*_RUNNING, *_ANSWERING, *_LOOKING)

CELL_MAGICS: dict[str, Verb] = {verb.name: verb for verb in (STEPS, AGENT)}
"""Cell magics by name."""

VERBS: dict[str, Verb] = {verb.name: verb for verb in (*_LINES, help_verb((STEPS, AGENT, *_LINES)))}
"""Verbs of `%steps` by name, in the order the help shows them."""

"""The magics: `%%steps`, `%%agent`, and the verbs of `%steps`, one file each."""

from .agent import AGENT
from .cap import CAP
from .copy import COPY
from .cost import COST
from .diff import DIFF
from .finish import FINISH
from .freeze import FREEZE
from .help import help_verb
from .load import LOAD
from .mcp import MCP
from .models import MODELS
from .next import NEXT
from .open import OPEN
from .plan import PLAN
from .plot import PLOT
from .preflight import PREFLIGHT
from .questions import ANSWER, APPROVALS, APPROVE, QUESTIONS, REJECT
from .replay import REPLAY
from .resume import RESUME
from .run import RUN
from .runs import RUNS
from .schema import SCHEMA
from .show import SHOW
from .sql import SQL
from .step import STEP
from .steps import STEPS, is_step_list
from .store import STORE
from .test import TEST
from .trajectory import TRAJECTORY
from .transcript import TRANSCRIPT
from .validate import VALIDATE
from .verb import Verb
from .watch import WATCH

__all__ = ["CELL_MAGICS", "VERBS", "Verb", "is_step_list"]

_RUNNING = (LOAD, VALIDATE, PREFLIGHT, PLAN, NEXT, STEP, RUN, FINISH, WATCH, RESUME, REPLAY, TEST)
_LOOKING = (
    RUNS,
    SHOW,
    DIFF,
    FREEZE,
    COST,
    PLOT,
    CAP,
    MODELS,
    MCP,
    TRAJECTORY,
    TRANSCRIPT,
    SQL,
    OPEN,
    COPY,
    STORE,
    SCHEMA,
)
_ANSWERING = (QUESTIONS, ANSWER, APPROVALS, APPROVE, REJECT)
_LINES = (*_RUNNING, *_ANSWERING, *_LOOKING)

CELL_MAGICS: dict[str, Verb] = {verb.name: verb for verb in (STEPS, AGENT)}
"""Cell magics by name."""

VERBS: dict[str, Verb] = {verb.name: verb for verb in (*_LINES, help_verb((STEPS, AGENT, *_LINES)))}
"""Verbs of `%steps` by name, in the order the help shows them."""

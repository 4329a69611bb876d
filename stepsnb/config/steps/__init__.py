"""The kinds of steps, one file each."""

from typing import get_args

from .across import AcrossSpec, Axis, BlockBudget
from .agent import AgentStep, ArtifactFile
from .approval import ApprovalStep
from .base import HOOKS, Hooked, StepBase
from .blocks import DoStep, InParallelStep, ParallelBlock, RaceBlock, RaceStep, TryStep
from .context import ContextMode, StepContextFrom
from .ensemble import EnsembleBlock, EnsembleStep, judge_step
from .get import GetStep
from .load_var import LoadVarStep
from .put import PutStep
from .routes import FAILURE, NEXT, Routes, VerdictEntry
from .task import TaskStep

Step = (
    TaskStep
    | AgentStep
    | GetStep
    | PutStep
    | LoadVarStep
    | DoStep
    | InParallelStep
    | RaceStep
    | EnsembleStep
    | ApprovalStep
    | TryStep
)

for _kind in (Hooked, ParallelBlock, RaceBlock, *get_args(Step)):
    _kind.model_rebuild(_types_namespace={"Step": Step})

__all__ = [
    "FAILURE",
    "HOOKS",
    "NEXT",
    "AcrossSpec",
    "AgentStep",
    "ApprovalStep",
    "ArtifactFile",
    "Axis",
    "BlockBudget",
    "ContextMode",
    "DoStep",
    "EnsembleBlock",
    "EnsembleStep",
    "GetStep",
    "Hooked",
    "InParallelStep",
    "LoadVarStep",
    "ParallelBlock",
    "PutStep",
    "RaceBlock",
    "RaceStep",
    "Routes",
    "Step",
    "StepBase",
    "StepContextFrom",
    "TaskStep",
    "TryStep",
    "VerdictEntry",
    "judge_step",
]

"""The kinds of steps, one file each."""

from .agent import AgentStep
from .context import ContextMode, StepContextFrom
from .get import GetStep
from .task import TaskStep

Step = TaskStep | AgentStep | GetStep

__all__ = ["AgentStep", "ContextMode", "GetStep", "Step", "StepContextFrom", "TaskStep"]

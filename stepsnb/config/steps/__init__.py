"""The kinds of steps, one file each."""

from .agent import AgentStep
from .get import GetStep
from .task import TaskStep

Step = TaskStep | AgentStep | GetStep

__all__ = ["AgentStep", "GetStep", "Step", "TaskStep"]

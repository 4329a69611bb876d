"""One file a step kind: how that kind does its work."""

from .agent import run_agent_step
from .get import run_get_step
from .task import run_task_step

__all__ = ["run_agent_step", "run_get_step", "run_task_step"]

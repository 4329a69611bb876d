"""What each kind of step does itself, one file a kind."""

from .agent import run_agent_step
from .approval import run_approval_step
from .get import run_get_step
from .load_var import run_load_var_step
from .put import run_put_step
from .task import run_task_step

__all__ = [
    "run_agent_step",
    "run_approval_step",
    "run_get_step",
    "run_load_var_step",
    "run_put_step",
    "run_task_step",
]

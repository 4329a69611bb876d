"""Decides whether a step runs at all: the shell program of its `when:`."""

from ..config import AgentStep, PutStep, TaskStep
from ..plan import Node
from ..workspace import finish_in_thread, run_shell
from .context import RunContext
from .scope import Scope

_OUTPUT_BYTES = 4_096
GUARD_S = 60.0
"""A guard that has not ended by then says no."""


async def guard_says_no(node: Node, run: RunContext, scope: Scope) -> str | None:
    """Run the guard with copies of the step's inputs; return why the step is skipped, None when it runs.

    Raises: WorkspaceError when the guard cannot be started.
    """
    step = node.step
    wanted = step.inputs if isinstance(step, TaskStep | AgentStep | PutStep) and step.inputs != "all" else ()
    trees = {name: scope.artifacts[name] for name in wanted if name in scope.artifacts}
    directory = await finish_in_thread(run.workspace.open_step, f"when-{node.path}", trees, ())
    done = await run_shell(step.when or "true", cwd=directory.path, timeout_s=GUARD_S, max_output_bytes=_OUTPUT_BYTES)
    if done.timed_out:
        return f"`when:` did not end within {GUARD_S:g} s"
    return None if done.exit_code == 0 else f"`when:` ended with exit code {done.exit_code}"

"""A `task` step: a shell program in the step's directory."""

from ...config import TaskStep
from ...events import Output
from ...messages import cut_utf8
from ...outcome import Outcome
from ...settings import TASK_OUTPUT_BYTES
from ...workspace import run_shell
from ..asserts import unmet_of_step
from ..context import StepContext, StepEnd
from ..opening import write_decisions

_MATCHED_BYTES = 10_000_000
"""How much of a command's output an assert looks at."""


async def run_task_step(step: TaskStep, ctx: StepContext) -> StepEnd:
    """Run the command; its own criteria are the assert when there is one, else the exit code."""
    if step.context is not None:
        write_decisions(step.context.from_, ctx.run.decisions, ctx.directory.path)
    timeout_s = step.timeout_s or None
    done = await run_shell(
        step.run, cwd=ctx.directory.path, env=step.env, timeout_s=timeout_s, max_output_bytes=_MATCHED_BYTES
    )
    stdout = done.stdout.decode("utf-8", "replace")
    stderr = done.stderr.decode("utf-8", "replace")
    ctx.emit(
        Output(
            exit_code=done.exit_code,
            stdout=cut_utf8(stdout, TASK_OUTPUT_BYTES),
            stderr=cut_utf8(stderr, TASK_OUTPUT_BYTES),
            stdout_bytes=done.stdout_bytes,
            stderr_bytes=done.stderr_bytes,
        )
    )
    if done.timed_out:
        return StepEnd.timed_out(timeout_s, stdout)
    if step.assert_ is not None:
        unmet = unmet_of_step(step.assert_, text=stdout, has_file=ctx.has_file, code=done.exit_code)
        if unmet:
            return StepEnd(Outcome.FAILED, stdout, "; ".join(unmet))
    elif done.exit_code != 0:
        return StepEnd(Outcome.FAILED, stdout, _why(done.exit_code, stderr))
    return StepEnd(Outcome.SUCCEEDED, stdout)


def _why(exit_code: int, stderr: str) -> str:
    ended = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
    lines = stderr.strip().splitlines()
    return f"the command ended with {ended}" + (f": {lines[-1][:200]}" if lines else "")

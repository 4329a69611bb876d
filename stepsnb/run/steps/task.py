"""A `task` step: a shell program in the step's directory, and the agent that repairs it where it has one."""

from dataclasses import dataclass, replace

from ...config import TaskStep
from ...events import Note, Output
from ...messages import cut_utf8
from ...outcome import Outcome
from ...processes import Completed
from ...settings import TASK_OUTPUT_BYTES
from ...tools import ToolResult
from ...workspace import HostShell
from ..asserts import unmet_of_step
from ..context import StepContext, StepEnd
from ..fixing import repair
from ..opening import write_decisions

_MATCHED_BYTES = 10_000_000
"""How much of a command's output an assert looks at."""


@dataclass(frozen=True, slots=True)
class _Ran:
    """One run of the command: what it printed, how it ended, and what that means for the step."""

    stdout: str
    stderr: str
    exit_code: int
    end: StepEnd

    def told(self) -> ToolResult:
        """What a fixer sees of it."""
        return ToolResult.of(
            {"exit_code": self.exit_code, "stdout": self.stdout, "stderr": self.stderr},
            is_error=self.exit_code != 0,
            long_text=f"exit code {self.exit_code}\n[stdout]\n{self.stdout}\n[stderr]\n{self.stderr}",
        )


async def run_task_step(step: TaskStep, ctx: StepContext) -> StepEnd:
    """Run the command; its own criteria are the assert when there is one, else the exit code.

    A run that misses them is repaired by the step's `fix:` agent, and one more run is judged by the same criteria.
    """
    if step.context is not None:
        write_decisions(step.context.from_, ctx.scope.decisions, ctx.directory.path)
    first = await _run(step, ctx)
    fix = step.fix
    if fix is None or first.end.outcome is not Outcome.FAILED:
        return first.end
    ctx.emit(Note(text=f"note: {step.name} makes this chain uncacheable (fix: {fix.agent})"))

    async def rerun() -> ToolResult:
        return (await _run(step, ctx)).told()

    output = f"{first.stdout}\n{first.stderr}".strip()
    await repair(step, fix, ctx, failure=first.end.reason or "it failed", output=output, rerun=rerun)
    last = (await _run(step, ctx)).end
    if last.outcome is Outcome.SUCCEEDED:
        return last
    return replace(last, reason=f"{last.reason}; agent `{fix.agent}` could not repair it")


async def _run(step: TaskStep, ctx: StepContext) -> _Ran:
    done = await _execute(step, ctx)
    stdout, stderr = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    ctx.emit(
        Output(
            exit_code=done.exit_code,
            stdout=cut_utf8(stdout, TASK_OUTPUT_BYTES),
            stderr=cut_utf8(stderr, TASK_OUTPUT_BYTES),
            stdout_bytes=done.stdout_bytes,
            stderr_bytes=done.stderr_bytes,
        )
    )
    return _Ran(stdout, stderr, done.exit_code, _judge(step, ctx, done, stdout, stderr))


async def _execute(step: TaskStep, ctx: StepContext) -> Completed:
    shell = ctx.shell or HostShell(ctx.directory.path)
    return await shell.run(step.run, env=step.env, timeout_s=step.timeout_s or None, max_output_bytes=_MATCHED_BYTES)


def _judge(step: TaskStep, ctx: StepContext, done: Completed, stdout: str, stderr: str) -> StepEnd:
    if done.timed_out:
        return StepEnd.timed_out(ctx.allowed, stdout)
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

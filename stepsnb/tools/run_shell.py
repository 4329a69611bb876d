"""The tool `run_shell`: a shell command in the working directory."""

from functools import partial
from typing import Any

from pydantic import Field

from ..processes import Completed
from ..settings import SPILL_CEILING_BYTES, TOOL_RUN_S
from ..workspace import decode_output
from ..workspace import run_shell as run_command
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, builtin_tool


class RunShellArguments(Arguments):
    """What to run."""

    command: str = Field(min_length=1, description="The command, as a shell program; it may have several lines.")


async def run_shell(args: RunShellArguments, ctx: ToolContext, *, timeout_s: float | None) -> ToolResult:
    """Run the command and return `{exit_code, stdout, stderr}`, with `error` when it was ended for time.

    It keeps its own clock, so that what the command printed until then is not lost.
    """
    done = await run_command(args.command, cwd=ctx.root.path, timeout_s=timeout_s, max_output_bytes=SPILL_CEILING_BYTES)
    stdout, stderr = _text(done.stdout, done.stdout_bytes), _text(done.stderr, done.stderr_bytes)
    data: dict[str, Any] = {"exit_code": done.exit_code, "stdout": stdout, "stderr": stderr}
    if done.timed_out:
        data["error"] = f"the command was ended: it did not finish within {timeout_s:g} seconds"
    head = _head(done, data.get("error"))
    return ToolResult.of(
        data,
        is_error=done.timed_out or done.exit_code != 0,
        is_truncated=max(done.stdout_bytes, done.stderr_bytes) > SPILL_CEILING_BYTES,
        long_text=f"{head}\n[stdout]\n{stdout}\n[stderr]\n{stderr}",
    )


def run_shell_tool(*, timeout_s: float | None = None) -> Tool:
    """Build the tool; a command is ended after `timeout_s`, 0 means never."""
    limit = TOOL_RUN_S if timeout_s is None else timeout_s or None
    return builtin_tool("run_shell", RunShellArguments, partial(run_shell, timeout_s=limit))


def _head(done: Completed, error: str | None) -> str:
    return f"exit code {done.exit_code}" + (f": {error}" if error else "")


def _text(raw: bytes, size: int) -> str:
    text = decode_output(raw)
    return text if size <= len(raw) else f"{text}\n[cut: the first {len(raw):,} of {size:,} bytes]"

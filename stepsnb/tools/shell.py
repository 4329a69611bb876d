"""What tools that run a shell program have in common: where it runs, how long, and what a model is told of it."""

import asyncio
from typing import Any

from ..settings import SPILL_CEILING_BYTES
from ..workspace import HostShell, decode_output
from .base import ToolContext, ToolResult


async def run_program(script: str, ctx: ToolContext) -> ToolResult:
    """Run `script` in the working directory and return `{exit_code, stdout, stderr}`.

    It is ended at `ctx.deadline`; what it printed until then is returned with an `error`.

    Raises: WorkspaceError when the shell cannot be started.
    """
    timeout_s = None if ctx.deadline is None else max(0.0, ctx.deadline - asyncio.get_running_loop().time())
    shell = ctx.shell or HostShell(ctx.root.path)
    done = await shell.run(script, cwd=ctx.root.base, timeout_s=timeout_s, max_output_bytes=SPILL_CEILING_BYTES)
    stdout, stderr = _text(done.stdout, done.stdout_bytes), _text(done.stderr, done.stderr_bytes)
    data: dict[str, Any] = {"exit_code": done.exit_code, "stdout": stdout, "stderr": stderr}
    if done.timed_out:
        data["error"] = "the command was ended before it was done"
    return ToolResult.of(
        data,
        is_error=done.timed_out or done.exit_code != 0,
        is_truncated=max(done.stdout_bytes, done.stderr_bytes) > SPILL_CEILING_BYTES,
        long_text=f"exit code {done.exit_code}\n[stdout]\n{stdout}\n[stderr]\n{stderr}",
    )


def _text(raw: bytes, size: int) -> str:
    text = decode_output(raw)
    return text if size <= len(raw) else f"{text}\n[cut: the first {len(raw):,} of {size:,} bytes]"

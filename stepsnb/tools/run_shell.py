"""The tool `run_shell`: a shell command in the working directory."""

from pydantic import Field

from ..effects import RetryPolicy
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, builtin_tool
from .shell import run_program


class RunShellArguments(Arguments):
    """What to run."""

    command: str = Field(min_length=1, description="The command, as a shell program; it may have several lines.")


async def run_shell(args: RunShellArguments, ctx: ToolContext) -> ToolResult:
    """Run the command and return `{exit_code, stdout, stderr}`, with `error` when it was ended for time."""
    return await run_program(args.command, ctx)


def run_shell_tool(*, policy: RetryPolicy | None = None) -> Tool:
    """Build the tool."""
    return builtin_tool("run_shell", RunShellArguments, run_shell, keeps_time=True, policy=policy)

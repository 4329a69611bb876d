import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from stepsnb.effects import RetryPolicy
from stepsnb.errors import ErrorCode
from stepsnb.processes import Completed
from stepsnb.settings import INLINE_OUTPUT_BYTES
from stepsnb.tools import ToolContext
from stepsnb.tools.read_file import read_file_tool
from stepsnb.tools.run_shell import run_shell_tool
from stepsnb.tools.shell import run_program
from stepsnb.workspace import Root

from .conftest import Call, error_of

SHELL = run_shell_tool()


async def test_exit_code_and_both_streams_are_returned(call: Call) -> None:
    called = await call(SHELL, command="echo out; echo err >&2")
    assert json.loads(called.result.content) == {"exit_code": 0, "stdout": "out\n", "stderr": "err\n"}
    assert called.ok


async def test_failing_command_is_data(call: Call) -> None:
    called = await call(SHELL, command="echo no >&2; exit 3")
    assert json.loads(called.result.content) == {"exit_code": 3, "stdout": "", "stderr": "no\n"}
    assert not called.ok


async def test_command_runs_in_the_working_directory(work: Path, call: Call) -> None:
    await call(SHELL, command="echo hei > made.txt")
    assert (work / "made.txt").read_text() == "hei\n"


async def test_command_runs_in_the_shell_of_the_step(ctx: ToolContext) -> None:
    ran = []

    class Elsewhere:
        async def run(self, script: str, *, cwd: Path, **options: object) -> Completed:
            ran.append((script, cwd))
            return Completed(exit_code=0, stdout=b"there\n", stderr=b"", stdout_bytes=6, stderr_bytes=0)

    inside = replace(ctx, root=Root(ctx.root.path, "sub"), shell=Elsewhere())
    result = await run_program("make", inside)
    assert result.data == {"exit_code": 0, "stdout": "there\n", "stderr": ""}
    assert ran == [("make", ctx.root.path / "sub")]


async def test_output_that_is_not_utf8_is_readable(call: Call) -> None:
    called = await call(SHELL, command="printf 'caf\\351\\n'; printf '\\377\\000' >&2")
    assert json.loads(called.result.content) == {"exit_code": 0, "stdout": "café\n", "stderr": "\\xff\0"}


async def test_command_that_takes_too_long_keeps_what_it_printed(call: Call) -> None:
    tool = run_shell_tool(policy=RetryPolicy(run_timeout_s=1))
    called = await call(tool, command="echo begun; sleep 60")
    data = called.result.data
    assert data is not None
    assert data["stdout"] == "begun\n"
    assert data["error"] == (
        "`run_shell` timed out after 1 s (deadline exceeded while running); "
        "anything it returned may be partial: the command was ended before it was done"
    )
    assert (called.ok, called.result.code) == (False, ErrorCode.DEADLINE_EXCEEDED)


async def test_long_output_is_a_file_with_lines_to_read(call: Call) -> None:
    called = await call(SHELL, command="seq 1 20000; echo oops >&2; exit 4")
    assert called.spilled_to == ".steps-output/call_1.txt"
    assert "exit code 4" in called.result.content
    assert "oops" in called.result.content
    lines = await call(read_file_tool(), path=called.spilled_to, start_line=3, end_line=4)
    assert lines.result.content == "1\n2\n"
    assert not called.ok


async def test_output_that_just_fits_stays_inline(call: Call) -> None:
    called = await call(SHELL, command="head -c 31000 /dev/zero | tr '\\0' x")
    assert called.spilled_to is None
    assert len(called.result.content) < INLINE_OUTPUT_BYTES


async def test_cancellation_ends_the_command(work: Path, call: Call) -> None:
    task = asyncio.create_task(call(SHELL, command="sleep 1; echo late > late.txt"))
    await asyncio.sleep(0.3)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 2.5
    await asyncio.sleep(1)
    assert not (work / "late.txt").exists()


async def test_command_with_nul_is_told(call: Call) -> None:
    assert "the command is not usable text" in error_of(await call(SHELL, command="echo \0"))


async def test_empty_command_is_refused(call: Call) -> None:
    assert "argument `command`" in error_of(await call(SHELL, command=""))

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from stepsnb.processes import Completed, run_process


async def sh(script: str, cwd: Path, *, timeout_s: float | None = 20, max_output_bytes: int = 10_000) -> Completed:
    return await run_process(["sh", "-c", script], cwd=cwd, timeout_s=timeout_s, max_output_bytes=max_output_bytes)


async def file_with_text(path: Path) -> str:
    for _ in range(500):
        if path.exists() and (text := path.read_text().strip()):
            return text
        await asyncio.sleep(0.01)
    raise AssertionError(f"{path.name} never came")


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def is_gone_soon(pid: int) -> bool:
    return any(not is_running(pid) or time.sleep(0.02) for _ in range(100))


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


async def test_output_and_exit_code_are_reported(tmp_path: Path) -> None:
    done = await sh("echo out; echo err >&2; exit 3", tmp_path)
    assert (done.exit_code, done.stdout, done.stderr, done.timed_out) == (3, b"out\n", b"err\n", False)


async def test_output_is_bounded_and_counted_in_full(tmp_path: Path) -> None:
    done = await sh("head -c 300000 /dev/zero | tr '\\0' x; printf abc >&2", tmp_path, max_output_bytes=1000)
    assert (done.stdout, done.stdout_bytes) == (b"x" * 1000, 300_000)
    assert (done.stderr, done.stderr_bytes) == (b"abc", 3)


async def test_standard_input_is_empty(tmp_path: Path) -> None:
    assert (await sh("cat; echo end", tmp_path)).stdout == b"end\n"


async def test_program_runs_in_the_given_folder_and_environment(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "GREETING": "hei"}
    done = await run_process(["sh", "-c", 'pwd; echo "$GREETING"'], cwd=tmp_path, env=env, max_output_bytes=1000)
    assert done.stdout.decode().splitlines() == [str(tmp_path.resolve()), "hei"]


async def test_missing_program_raises_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_process(["no-such-program-here"], cwd=tmp_path, max_output_bytes=10)


async def test_argument_with_nul_raises_valueerror(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="null byte"):
        await sh("echo a\0b", tmp_path)


async def test_failed_starts_leak_no_descriptors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_process(["no-such-program-here"], cwd=tmp_path, max_output_bytes=10)
    before = open_descriptors()
    for _ in range(5):
        with pytest.raises(FileNotFoundError):
            await run_process(["no-such-program-here"], cwd=tmp_path, max_output_bytes=10)
    assert open_descriptors() == before


async def test_finished_programs_leak_no_descriptors(tmp_path: Path) -> None:
    await sh("echo x", tmp_path)
    before = open_descriptors()
    for _ in range(5):
        await sh("echo x", tmp_path)
    assert open_descriptors() == before


async def test_timeout_ends_the_program_and_keeps_its_output(tmp_path: Path) -> None:
    began = time.monotonic()
    done = await sh("echo begun; sleep 60", tmp_path, timeout_s=0.3)
    assert (done.timed_out, done.exit_code, done.stdout) == (True, -signal.SIGTERM, b"begun\n")
    assert time.monotonic() - began < 2


async def test_program_that_ignores_sigterm_is_killed_after_two_seconds(tmp_path: Path) -> None:
    began = time.monotonic()
    done = await sh("trap '' TERM; while :; do sleep 0.1; done", tmp_path, timeout_s=0.2)
    assert (done.timed_out, done.exit_code) == (True, -signal.SIGKILL)
    assert 2.0 <= time.monotonic() - began < 3.5


async def test_program_may_clean_up_on_sigterm(tmp_path: Path) -> None:
    done = await sh("trap 'echo cleaned; exit 7' TERM; while :; do sleep 0.05; done", tmp_path, timeout_s=0.3)
    assert (done.timed_out, done.exit_code, done.stdout) == (True, 7, b"cleaned\n")


async def test_background_children_are_ended_with_the_program(tmp_path: Path) -> None:
    began = time.monotonic()
    done = await sh("sleep 60 & echo $!", tmp_path)
    assert done.exit_code == 0
    assert not is_running(int(done.stdout))
    assert time.monotonic() - began < 2


async def test_stubborn_background_child_is_killed(tmp_path: Path) -> None:
    done = await sh("(trap '' TERM; exec sleep 60) & echo $!; sleep 0.2", tmp_path)
    assert done.exit_code == 0
    assert not is_running(int(done.stdout))


async def test_process_that_left_the_group_does_not_hold_up_the_result(tmp_path: Path) -> None:
    escape = "import os,sys; os.setsid(); print(os.getpid(), flush=True); os.execvp('sleep', ['sleep', '60'])"
    began = time.monotonic()
    done = await sh(f'{sys.executable} -S -c "{escape}" & sleep 0.7', tmp_path)
    escaped = int(done.stdout)
    try:
        assert done.exit_code == 0
        assert time.monotonic() - began < 5
    finally:
        os.kill(escaped, signal.SIGKILL)


async def test_cancellation_ends_the_whole_group(tmp_path: Path) -> None:
    task = asyncio.create_task(sh("sleep 60 & echo $! > pid; wait", tmp_path))
    pid = int(await file_with_text(tmp_path / "pid"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_running(pid)


async def test_second_cancellation_does_not_leave_half_a_group(tmp_path: Path) -> None:
    task = asyncio.create_task(sh("trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done", tmp_path))
    pid = int(await file_with_text(tmp_path / "pid"))
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.1)
    assert not task.done()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_running(pid)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancellation_before_the_program_started_leaves_nothing(tmp_path: Path) -> None:
    task = asyncio.create_task(sh("echo $$ > pid; sleep 60", tmp_path))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    if (tmp_path / "pid").exists():
        assert not is_running(int((tmp_path / "pid").read_text()))
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_enclosing_timeout_is_not_swallowed(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await sh("sleep 60", tmp_path)


def test_closing_loop_kills_the_group(tmp_path: Path) -> None:
    async def leave() -> int:
        asyncio.get_running_loop().create_task(sh("echo $$ > pid; exec sleep 60", tmp_path))
        return int(await file_with_text(tmp_path / "pid"))

    assert is_gone_soon(asyncio.run(leave()))


def test_exit_of_this_process_kills_the_group(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import asyncio, sys, time
        from pathlib import Path
        from stepsnb.engine import engine
        from stepsnb.processes import run_process

        async def work():
            script = "echo $$ > pid; exec sleep 60"
            await run_process(["sh", "-c", script], cwd=Path.cwd(), max_output_bytes=10)

        engine().start(work())
        while not Path("pid").exists() or not Path("pid").read_text().strip():
            time.sleep(0.01)
        """
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, timeout=30, check=True)
    assert is_gone_soon(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a test adopt orphans")
def test_uncollected_zombies_are_not_waited_for(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import asyncio, ctypes, time
        from pathlib import Path
        from stepsnb.processes import run_process

        PR_SET_CHILD_SUBREAPER = 36
        assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        began = time.monotonic()
        asyncio.run(run_process(["sh", "-c", "sleep 60 & sleep 0.1"], cwd=Path.cwd(), max_output_bytes=10))
        print(time.monotonic() - began)
        """
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, timeout=30, capture_output=True, text=True)
    assert done.stderr == ""
    assert float(done.stdout) < 1.5

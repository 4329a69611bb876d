import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepsnb.workspace import run_shell
from stepsnb.workspace.leftovers import VARIABLE, Mark

IS_LINUX = sys.platform == "linux"

WRITER = "touch began; while :; do echo x >> late; sleep 0.02; done"
DETACHED = {
    "in the background": f"({WRITER}) &",
    "with no output": f"({WRITER}) >/dev/null 2>&1 </dev/null &",
    "nohup": f"nohup sh -c '{WRITER}' >/dev/null 2>&1 &",
    "in the background of a background": f"(({WRITER}) &) >/dev/null 2>&1 &",
}
if IS_LINUX:
    DETACHED |= {
        "in a session of its own": f"setsid sh -c '{WRITER}' >/dev/null 2>&1 &",
        "forked off": f"setsid --fork sh -c '{WRITER}' >/dev/null 2>&1",
        "as a daemon": f"setsid --fork setsid --fork setsid --fork sh -c '{WRITER}' >/dev/null 2>&1 </dev/null",
    }


async def size_of(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


@pytest.mark.parametrize("way", DETACHED)
async def test_nothing_is_written_once_the_command_has_ended(tmp_path: Path, way: str) -> None:
    script = f"{DETACHED[way]}\nwhile [ ! -e began ]; do sleep 0.01; done"
    done = await run_shell(script, cwd=tmp_path, timeout_s=30, max_output_bytes=100)
    assert done.exit_code == 0
    size = await size_of(tmp_path / "late")
    await asyncio.sleep(0.3)
    assert await size_of(tmp_path / "late") == size


@pytest.mark.parametrize("way", DETACHED)
async def test_nothing_is_written_once_a_command_was_stopped(tmp_path: Path, way: str) -> None:
    task = asyncio.create_task(run_shell(f"{DETACHED[way]}\nsleep 60", cwd=tmp_path, max_output_bytes=100))
    while not (tmp_path / "began").exists():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    size = await size_of(tmp_path / "late")
    await asyncio.sleep(0.3)
    assert await size_of(tmp_path / "late") == size


async def test_processes_of_another_command_live_on(tmp_path: Path) -> None:
    other = asyncio.create_task(run_shell("sleep 0.6; echo lived", cwd=tmp_path, max_output_bytes=100))
    await asyncio.sleep(0.1)
    await run_shell("(sleep 60 &)", cwd=tmp_path, max_output_bytes=100)
    assert (await other).stdout == b"lived\n"


async def test_processes_of_ours_that_no_command_started_live_on(tmp_path: Path) -> None:
    mine = subprocess.Popen(["sleep", "60"])
    await run_shell("true", cwd=tmp_path, max_output_bytes=100)
    assert mine.poll() is None
    mine.kill()
    mine.wait()


async def test_command_inside_a_command_carries_both_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "outer")
    done = await run_shell(f"echo ${VARIABLE}", cwd=tmp_path, max_output_bytes=100)
    outer, _, own = done.stdout.decode().strip().partition(":")
    assert (outer, len(own)) == ("outer", 16)


def test_more_processes_than_are_looked_up_by_number_are_found_all_the_same(tmp_path: Path) -> None:
    mark = Mark()
    marked = subprocess.Popen(["sleep", "60"], env=mark.added_to(os.environ), start_new_session=True)
    for _ in range(250):
        subprocess.run(["true"], check=True)
    assert mark.end_all() == (1 if IS_LINUX else 0)  # only Linux shows the environment of a process
    marked.kill()
    assert marked.wait(10) == -9


def test_nothing_marked_is_nothing_ended() -> None:
    assert Mark().end_all() == 0

"""Child processes: a group of their own, bounded output with its true size, nothing left running."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from .settings import KILL_GRACE_S

_READ_BYTES = 64 * 1024


class Completed(msgspec.Struct, frozen=True, kw_only=True):
    """A child that has ended.

    `stdout` and `stderr` hold at most the asked number of bytes (the first ones), `*_bytes` the true sizes.
    `exit_code` is negative for a signal, as in `subprocess`; `timed_out` says that we killed it for time.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    timed_out: bool = False


async def _read_bounded(stream: asyncio.StreamReader, max_bytes: int) -> tuple[bytes, int]:
    kept, total = bytearray(), 0
    while chunk := await stream.read(_READ_BYTES):
        total += len(chunk)
        if len(kept) < max_bytes:
            kept += chunk[: max_bytes - len(kept)]
    return bytes(kept), total


def _signal_group(pid: int, number: int) -> bool:
    """Signal every process of the group; False when none is left."""
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS says so for a group of zombies only
        return False
    return True


async def end_group(pid: int, grace_s: float = KILL_GRACE_S) -> None:
    """End a process group: SIGTERM, then SIGKILL for whatever still runs after `grace_s`."""
    if not _signal_group(pid, signal.SIGTERM):
        return
    deadline = asyncio.get_running_loop().time() + grace_s
    while asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.02)
        if not _signal_group(pid, 0):
            return
    _signal_group(pid, signal.SIGKILL)


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    max_output_bytes: int,
) -> Completed:
    """Run a program to its end, in a process group that is gone when this returns or is cancelled.

    Background children the program leaves behind are ended too: nothing may write into a workspace after its
    result was recorded. Raises `OSError` when the program cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    readers = [
        asyncio.create_task(_read_bounded(process.stdout, max_output_bytes)),
        asyncio.create_task(_read_bounded(process.stderr, max_output_bytes)),
    ]
    timed_out = False
    try:
        try:
            async with asyncio.timeout(timeout_s):
                await process.wait()
        except TimeoutError:
            timed_out = True
    finally:
        # Shielded: a second cancellation must not leave half a group running.
        await asyncio.shield(_end(process))
        if not timed_out:
            # A grandchild that left the group may hold the pipes open; do not wait for it.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(asyncio.wait(readers)), 1.0)
        done = [r for r in readers if r.done()]
        for reader in readers:
            if reader not in done:
                reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    (out, out_bytes), (err, err_bytes) = [r.result() if not r.cancelled() else (b"", 0) for r in readers]
    assert process.returncode is not None
    return Completed(
        exit_code=process.returncode,
        stdout=out,
        stderr=err,
        stdout_bytes=out_bytes,
        stderr_bytes=err_bytes,
        timed_out=timed_out,
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    await end_group(process.pid)
    await process.wait()

"""Child processes: a group of their own, bounded output with its true size, nothing left running."""

import asyncio
import atexit
import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from .settings import KILL_GRACE_S

_IS_LINUX = sys.platform.startswith("linux")
_POLL_S = 0.02
_ZOMBIE_CHECK_S = 0.1
_KILLED_S = 0.5
_DRAIN_S = 1.0
"""How long output is still read after the group ended: a process that left the group may hold the pipes open."""


class Completed(msgspec.Struct, frozen=True, kw_only=True):
    """A child that has ended.

    `stdout` and `stderr` hold at most the asked number of bytes (the first ones), `*_bytes` the true sizes.
    `exit_code` is negative for a signal, as in `subprocess`; `timed_out` says that we ended it for time.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    timed_out: bool = False


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    max_output_bytes: int,
) -> Completed:
    """Run a program to its end, in a process group that is gone when this returns or is cancelled.

    Standard input is empty. Background children the program leaves behind are ended too: nothing may write into a
    workspace after its result was recorded.

    Args:
        env: The whole environment of the program; None passes on this process's own.
        timeout_s: From here to the first signal; None waits for ever.
        max_output_bytes: How much of each stream is kept; the rest is read and counted.

    Raises: OSError when the program cannot be started, ValueError for an argument that no program can be given
        (a NUL character, half of a surrogate pair).
    """
    # The child belongs to a task of its own, which a cancellation of this one reaches as a request to stop, however
    # often it comes. A `finally` here would be cut short by the second cancellation and leave half a group running.
    stop = asyncio.Event()
    task = asyncio.create_task(_run(argv, cwd, env, timeout_s, max_output_bytes, stop))
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_cancelled = True
            stop.set()
    if is_cancelled:
        if not task.cancelled():
            task.exception()  # seen: the caller is told of its cancellation instead
        raise asyncio.CancelledError
    return task.result()


async def end_group(process: subprocess.Popen[bytes], grace_s: float = KILL_GRACE_S) -> None:
    """End the process group that `process` leads and collect `process`.

    SIGTERM first, then SIGKILL for whatever of the group still runs after `grace_s`. A program that may not be
    signalled (it runs as another user) is given up after that.
    """
    try:
        # The leader is collected after the first signal only: until then its number cannot name another group.
        _signal_group(process.pid, signal.SIGTERM)
        if not await _is_gone_within(process, grace_s):
            _signal_group(process.pid, signal.SIGKILL)
            await _is_gone_within(process, _KILLED_S)
    except asyncio.CancelledError:
        _kill_at_once(process)
        raise


async def has_exited_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the end of a process, which is not collected where the system can tell without."""
    return await _happens_within(seconds, _has_exited(process))


class _Output(asyncio.Protocol):
    """One stream of a child: its first bytes, and how many there were."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.kept = bytearray()
        self.total = 0
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.total += len(data)
        self.kept += data[: max(0, self._max_bytes - len(self.kept))]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


class _Pipe:
    """A pipe whose read end feeds an `_Output`.

    `asyncio.subprocess` is not used: its pipes close only when every holder of the write end has, which a process
    that left the group delays, and its processes are collected before their group can be signalled safely.
    """

    def __init__(self, max_bytes: int) -> None:
        self.output = _Output(max_bytes)
        self._read_fd, self.write_fd = os.pipe()
        self._transport: asyncio.ReadTransport | None = None

    async def connect(self) -> None:
        reader = os.fdopen(self._read_fd, "rb", buffering=0)
        self._read_fd = -1
        try:
            self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: self.output, reader)
        except BaseException:
            reader.close()
            raise

    def close_write_end(self) -> None:
        if self.write_fd >= 0:
            os.close(self.write_fd)
            self.write_fd = -1

    async def close(self) -> None:
        self.close_write_end()
        if self._read_fd >= 0:
            os.close(self._read_fd)
            self._read_fd = -1
        if self._transport is not None:
            self._transport.close()
            await self.output.ended.wait()


async def _run(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None,
    timeout_s: float | None,
    max_output_bytes: int,
    stop: asyncio.Event,
) -> Completed:
    pipes: list[_Pipe] = []
    try:
        for _ in ("stdout", "stderr"):
            pipes.append(_Pipe(max_output_bytes))
            await pipes[-1].connect()
        process = subprocess.Popen(  # noqa: ASYNC220 - as quick as asyncio's own, which starts it just so
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=pipes[0].write_fd,
            stderr=pipes[1].write_fd,
            start_new_session=True,
        )
        with killed_with_us(process):
            for pipe in pipes:
                pipe.close_write_end()
            timed_out = not await _happens_within(timeout_s, _has_exited(process), stop.wait())
            await end_group(process)
        if not stop.is_set():
            drained = asyncio.gather(*(pipe.output.ended.wait() for pipe in pipes))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(drained, _DRAIN_S)
    finally:
        for pipe in pipes:
            await pipe.close()
    out, err = (pipe.output for pipe in pipes)
    return Completed(
        exit_code=-signal.SIGKILL if process.returncode is None else process.returncode,
        stdout=bytes(out.kept),
        stderr=bytes(err.kept),
        stdout_bytes=out.total,
        stderr_bytes=err.total,
        timed_out=timed_out,
    )


async def _happens_within(timeout_s: float | None, *events: Coroutine[Any, Any, object]) -> bool:
    """Wait for the first of `events`; False when `timeout_s` passed before any."""
    tasks = [asyncio.ensure_future(event) for event in events]
    try:
        done, _ = await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _has_exited(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process, where the system can tell without collecting it."""
    try:
        watch = _open_pidfd(process.pid)
    except OSError:  # only Linux has it, and not every container lets one use it
        while process.poll() is None:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(_POLL_S)
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(watch, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(watch)
        os.close(watch)


def _open_pidfd(pid: int) -> int:
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    raise OSError(errno.ENOSYS, "no file descriptors for processes here")


def _signal_group(pid: int, number: int) -> bool:
    """Signal every process of the group; False when none is left to signal."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):  # macOS refuses for a group of which only zombies are left
        return False
    return True


def _kill_at_once(process: subprocess.Popen[bytes]) -> None:
    _signal_group(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_KILLED_S)


async def _is_gone_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    clock = asyncio.get_running_loop().time
    began = clock()
    while True:
        waited = clock() - began
        if process.poll() is not None and (
            not _signal_group(process.pid, 0) or (waited >= _ZOMBIE_CHECK_S and _is_only_zombies(process.pid))
        ):
            return True
        if waited >= seconds:
            return False
        await asyncio.sleep(_POLL_S)


def _is_only_zombies(group: int) -> bool:
    """Whether every process of the group has ended and only waits to be collected.

    Orphans are collected by the machine's first process, which in many containers is a server that never does. Only
    Linux counts such zombies as members of their group, and only there `/proc` tells them apart.
    """
    if not _IS_LINUX:
        return False
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_bytes()
            except OSError:  # ended while we looked
                continue
            state, _, its_group = stat[stat.rindex(b")") + 2 :].split(maxsplit=3)[:3]
            if int(its_group) == group and state not in b"ZX":
                return False
    return True


_live: set[tuple[int, int]] = set()
"""Groups that run now, each with the process that started it: a fork must not end its parent's."""


@contextlib.contextmanager
def killed_with_us(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill the group at once when the block is left by an exception or when this process exits."""
    entry = (os.getpid(), process.pid)
    _live.add(entry)
    try:
        yield
    except BaseException:
        _kill_at_once(process)
        raise
    finally:
        _live.discard(entry)


@atexit.register
def _kill_what_still_runs() -> None:
    for owner, pid in list(_live):
        if owner == os.getpid():
            _signal_group(pid, signal.SIGKILL)

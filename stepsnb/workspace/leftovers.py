"""Ends processes that a command left behind outside its process group, such as those started with `setsid`.

Every command gets a mark of its own in its environment, which whatever it starts inherits. Linux shows the environment
a process was started with, so the mark finds them. What cannot be found: a process that was started with an emptied
environment (`env -i`) by one that has ended, one of another user (`sudo`), and one that a service started on request
(`docker run -d`, `systemd-run`, `at`). On other systems only the process group is ended.
"""

import errno
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "STEPSNB_COMMAND"
"""Holds the marks of a command and of those it runs inside, outermost first."""

_PROC = Path("/proc")
_ROUNDS = 50
"""A process that starts others faster than they are found is given up after this many looks."""

_ROUND_S = 0.002
_FEW = 200


class Mark:
    """The mark of one command that is about to start."""

    def __init__(self) -> None:
        self._text = secrets.token_hex(8)
        self._first = _last_pid()

    def added_to(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return `env` with the mark."""
        outer = env.get(VARIABLE)
        return {**env, VARIABLE: f"{outer}:{self._text}" if outer else self._text}

    def end_all(self) -> int:
        """Kill every process that carries the mark, and return how many there were."""
        if sys.platform != "linux":
            return 0
        ended: set[int] = set()
        for _ in range(_ROUNDS):
            found = [pid for pid in _started_since(self._first) if _kill_if_marked(pid, self._text.encode())]
            if not found:
                break
            ended |= set(found)
            time.sleep(_ROUND_S)  # a killed process is found again until the system has let go of its memory
        return len(ended)


def _last_pid() -> int | None:
    """Return the number the newest process of this machine or container got; None where that is not told."""
    try:
        return int((_PROC / "loadavg").read_bytes().split()[4])
    except (OSError, ValueError, IndexError):
        return None


def _started_since(first: int | None) -> Iterable[int]:
    """Return the processes that may have come since `first` was the newest number; mostly a few, or none.

    Numbers are given in order and begin anew at the end, so that after many of them every process is looked at.
    """
    last = _last_pid()
    if first is not None and last is not None and 0 <= last - first <= _FEW:
        return range(first + 1, last + 1)
    try:
        return [int(entry.name) for entry in os.scandir(_PROC) if entry.name.isdecimal()]
    except OSError:
        return ()


def _kill_if_marked(pid: int, mark: bytes) -> bool:
    """Kill the process `pid` if it carries the mark; by a descriptor, as its number may be another's by then."""
    try:
        process = _open_pidfd(pid)
    except OSError:  # ended, or a number no process has
        return False
    try:
        if mark not in (_PROC / str(pid) / "environ").read_bytes():
            return False
        _send_kill(process)
    except OSError:  # ended meanwhile, or another user's
        return False
    finally:
        os.close(process)
    return True


def _open_pidfd(pid: int) -> int:
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    raise OSError(errno.ENOSYS, "no file descriptors for processes here")


def _send_kill(process: int) -> None:
    if sys.platform == "linux":
        signal.pidfd_send_signal(process, signal.SIGKILL)

"""Says who holds a lock file, for the message of someone who waited for it in vain."""

import os
from pathlib import Path


def describe_holder(lock: Path) -> str:
    """Name the process that holds the lock file `lock`, as far as this system tells."""
    pid = _holder_pid(lock)
    if pid is None:
        return "another process"
    if pid == os.getpid():
        return "this process, in another session"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        command = ""
    return f"process {pid} ({command[:100]})" if command else f"process {pid}"


def _holder_pid(lock: Path) -> int | None:
    """Find the holder in Linux's list of locks: `1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF`."""
    try:
        inode = lock.stat().st_ino
        rows = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return None
    for row in rows:
        fields = row.split()
        if "->" not in fields and "FLOCK" in fields and fields[5].endswith(f":{inode}") and fields[4].isdigit():
            return int(fields[4])
    return None

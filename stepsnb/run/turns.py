"""When a job may begin: one run at a time for `serial` and its groups, at most `max_in_flight` otherwise."""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..config import Job
from ..errors import StoreError
from ..settings import TURN_POLL_S

LOCKS = "locks"
"""The folder of a store in which runs of all processes wait for each other."""


class JobTurn:
    """A run's place in the queue of its job; held from its first step to its end, by whatever process."""

    def __init__(self, job: Job, pipeline: str, store_root: Path) -> None:
        self._folder = store_root / LOCKS
        self._wanted = [(f"group {name}", 1) for name in job.serial_groups]
        if job.serial or job.max_in_flight is not None:
            self._wanted.append((f"{pipeline} {job.name}", 1 if job.serial else job.max_in_flight or 1))
        self._held: list[object] = []

    async def take(self, on_wait: Callable[[str], None]) -> None:
        """Wait for the turn; `on_wait` is told once when there is something to wait for. Raises: StoreError."""
        from filelock import BaseFileLock, FileLock, Timeout

        has_told = False
        for name, count in sorted(self._wanted):  # in one order for all, so that no two wait for each other
            locks = [FileLock(self._folder / f"{_file_name(name)}-{n}.lock", thread_local=False) for n in range(count)]
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                while True:
                    taken: BaseFileLock | None = None
                    for lock in locks:
                        with suppress(Timeout):
                            lock.acquire(blocking=False)
                            taken = lock
                            break
                    if taken is not None:
                        self._held.append(taken)
                        break
                    if not has_told:
                        has_told = True
                        on_wait(f"waiting for a run that is under way (`{name}`)")
                    await asyncio.sleep(TURN_POLL_S)
            except OSError as exc:
                raise StoreError(f"cannot wait in `{LOCKS}/`: {exc.strerror}") from exc

    def give_back(self) -> None:
        """Let the next run begin."""
        for lock in self._held:
            lock.release()  # type: ignore[attr-defined]  # a lock of the module imported above
        self._held.clear()


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[-100:]

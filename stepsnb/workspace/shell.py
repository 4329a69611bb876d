"""Runs shell programs: on this machine, in a directory, until nothing of them is left running."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ..errors import WorkspaceError
from ..processes import Completed, run_process
from .leftovers import Mark


class Shell(Protocol):
    """Runs programs for `sh -c` in the folder it was opened for."""

    async def run(
        self,
        script: str,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout_s: float | None = None,
        max_output_bytes: int,
    ) -> Completed:
        """Run `script` to its end; what it started has ended when this returns or is cancelled.

        Args:
            env: Variables added to the environment that programs have there.
            cwd: The folder to run in, inside the one the shell was opened for; None is that one itself.
            timeout_s: After it the program is ended and `timed_out` says so.
            max_output_bytes: How much of each stream is kept.

        Raises: WorkspaceError when it cannot be started.
        """
        ...


class HostShell:
    """Runs programs on this machine; see `Shell` and `run_shell`."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._env = dict(env or {})

    async def run(
        self,
        script: str,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout_s: float | None = None,
        max_output_bytes: int,
    ) -> Completed:
        """Run `script`; see `Shell.run`."""
        return await run_shell(
            script,
            cwd=cwd or self._folder,
            env={**self._env, **(env or {})},
            timeout_s=timeout_s,
            max_output_bytes=max_output_bytes,
        )


async def run_shell(
    script: str,
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    max_output_bytes: int,
) -> Completed:
    """Run `script` with `sh -c` in `cwd`; all it started is gone when this returns or is cancelled.

    That is its process group, and on Linux also what left the group, found by a mark in its environment (`leftovers`).

    Args:
        env: Variables added to this process's own environment.
        timeout_s: After it the group is ended and `timed_out` says so.
        max_output_bytes: How much of each stream is kept.

    Raises: WorkspaceError when the shell cannot be started.
    """
    mark = Mark()
    try:
        return await run_process(
            ["sh", "-c", script],
            cwd=cwd,
            env=mark.added_to({**os.environ, **(env or {})}),
            timeout_s=timeout_s,
            max_output_bytes=max_output_bytes,
        )
    except OSError as exc:
        raise WorkspaceError(f"cannot start the shell: {exc.strerror}") from exc
    except ValueError as exc:
        raise WorkspaceError(f"cannot start the shell: the command is not usable text ({exc})") from exc
    finally:
        mark.end_all()

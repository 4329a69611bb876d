"""Runs a shell program in a directory."""

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import WorkspaceError
from ..processes import Completed, run_process


async def run_shell(
    script: str,
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    max_output_bytes: int,
) -> Completed:
    """Run `script` with `sh -c` in `cwd`; its whole process group is gone when this returns or is cancelled.

    Args:
        env: Variables added to this process's own environment.
        timeout_s: After it the group is ended and `timed_out` says so.
        max_output_bytes: How much of each stream is kept.

    Raises: WorkspaceError when the shell cannot be started.
    """
    try:
        return await run_process(
            ["sh", "-c", script],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            timeout_s=timeout_s,
            max_output_bytes=max_output_bytes,
        )
    except OSError as exc:
        raise WorkspaceError(f"cannot start the shell: {exc.strerror}") from exc
    except ValueError as exc:
        raise WorkspaceError(f"cannot start the shell: the command is not usable text ({exc})") from exc

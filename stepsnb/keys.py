"""Keys of models and servers by the name of their variable: from the environment, a hidden prompt, or a `.env` file.

A key is only ever looked up here, so that it enters no child's environment. Whoever sends one hides it from what is
recorded.
"""

import io
import os
import stat
from functools import lru_cache
from pathlib import Path

ENV_FILE = ".env"
"""Looked for in the current folder, which is a notebook's own."""

_FILE_BYTES = 1_000_000

_typed: dict[str, str] = {}


def find_key(variable: str) -> str:
    """Return the key a variable holds, without the line break that a file may have ended in; empty when none does.

    The environment comes first, then what was typed in this process, then the file.
    """
    for place in (os.environ, _typed):
        if key := place.get(variable, "").strip():
            return key
    return _from_file().get(variable, "").strip()


def keep_key(variable: str, key: str) -> None:
    """Keep a key for this process, in memory only."""
    _typed[variable] = key


def _from_file() -> dict[str, str]:
    """Read the file; one that is not there, or cannot be read, holds nothing."""
    try:
        path = Path.cwd() / ENV_FILE
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _FILE_BYTES:
            return {}
        return _parse(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return {}


@lru_cache(maxsize=8)
def _parse(path: Path, changed_ns: int, size: int) -> dict[str, str]:
    """Read one state of a file, told by when it changed and its size."""
    from dotenv import dotenv_values

    text = path.read_text(encoding="utf-8", errors="replace")
    values = dotenv_values(stream=io.StringIO(text), interpolate=False)
    return {name: value for name, value in values.items() if value is not None}

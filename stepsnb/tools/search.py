"""Walks a folder and matches lines; no link is followed, and no pattern can make it hang."""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema

from ..messages import cut_utf8
from ..settings import SEARCH_CONTENT_BYTES, SEARCH_FILE_BYTES, SEARCH_LINE_BYTES, SEARCH_S, SEARCH_SKIPPED_DIRS
from ..workspace import Root, decode_text, match_glob, shown
from .base import to_json

IsMatch = Callable[[str], bool]

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LINES_A_LOOK = 1_000


class BadPattern(ValueError):
    """A pattern that does not compile; the message says why."""


def compile_pattern(pattern: str) -> IsMatch:
    """Return whether a line matches `pattern` somewhere.

    The engine is pydantic's `rust-regex`, whose time is linear in the line. Python's own can need years for one line,
    and holds the interpreter while it does: not even a thread would keep the kernel alive.

    Raises: BadPattern.
    """
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python
    except SchemaError as exc:
        lines = str(exc).splitlines()
        reason = next((line for line in lines if line.startswith("error: ")), lines[-1].strip())
        raise BadPattern(reason.removeprefix("error: ").removeprefix("SchemaError: ").rstrip(".").lower()) from exc


class Search:
    """One search. `files`, `content` and `count` each run it and report it their way."""

    def __init__(
        self,
        *,
        root: Root,
        path: Path,
        is_match: IsMatch | None,
        glob: str | None,
        limit: int,
        stop: threading.Event,
    ) -> None:
        self._root = root
        self._path = path
        self._is_match = is_match
        self._glob = glob
        self._results = _Results(limit)
        self._stop = stop
        self._ends_at = time.monotonic() + SEARCH_S
        self._ran_out = False

    def files(self) -> dict[str, Any]:
        """Paths of files with a match, or whose path matches when there is no pattern."""
        for path, file in self._walk():
            if self._is_match is None or any(True for _ in self._matches(file)):
                self._results.add(path)
        return self._report("files")

    def content(self) -> dict[str, Any]:
        """Matching lines with their numbers."""
        for path, file in self._walk():
            for number, line in self._matches(file):
                self._results.add({"path": path, "line": number, "text": _short(line)})
        return self._report("matches")

    def count(self) -> dict[str, Any]:
        """Files with the number of their matching lines, and `matches` in all of them."""
        matches = 0
        for path, file in self._walk():
            if count := sum(1 for _ in self._matches(file)):
                matches += count
                self._results.add({"path": path, "count": count})
        return {**self._report("counts"), "matches": matches}

    def _report(self, key: str) -> dict[str, Any]:
        found = self._results
        report = {key: found.items, "total": found.total, "truncated": found.is_cut or self._ran_out}
        if self._ran_out:
            report["note"] = f"stopped after {SEARCH_S:g} seconds; `total` counts what was found until then"
        return report

    def _must_end(self) -> bool:
        self._ran_out = self._ran_out or self._stop.is_set() or time.monotonic() > self._ends_at
        return self._ran_out

    def _walk(self) -> Iterator[tuple[str, "_File"]]:
        """Yield the regular files that the glob lets through, each with its path from the root."""
        if not self._path.is_dir():
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                file = _File(self._path.name, folder)
                file.size()  # a missing file is an error, not an empty result
                if self._lets_through(file.name, file):
                    yield shown(self._root.relative(self._path)), file
            finally:
                os.close(folder)
            return
        # By file descriptors: a folder that is swapped for a link meanwhile is not followed.
        for folder_path, folders, names, folder in os.fwalk(self._path):
            folders[:] = sorted(set(folders) - SEARCH_SKIPPED_DIRS)
            inner = Path(folder_path).relative_to(self._path)
            for name in sorted(names):
                if self._must_end():
                    return
                file = _File(name, folder)
                if self._lets_through((inner / name).as_posix(), file):
                    yield shown(self._root.relative(self._path / inner / name)), file

    def _lets_through(self, path: str, file: "_File") -> bool:
        return (self._glob is None or match_glob(self._glob, path)) and file.size() is not None

    def _matches(self, file: "_File") -> Iterator[tuple[int, str]]:
        if self._is_match is None:
            return
        for number, line in enumerate(file.text().split("\n"), 1):
            if number % _LINES_A_LOOK == 0 and self._must_end():
                return
            if self._is_match(line := line.removesuffix("\r")):
                yield number, line


class _File:
    """A file by its name in an open folder."""

    def __init__(self, name: str, folder: int) -> None:
        self.name = name
        self._folder = folder

    def size(self) -> int | None:
        """The size of a regular file, None for anything else."""
        status = os.stat(self.name, dir_fd=self._folder, follow_symlinks=False)
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def text(self) -> str:
        """The text without a final line end; nothing when it is binary, too large or unreadable."""
        try:
            with os.fdopen(os.open(self.name, _OPEN, dir_fd=self._folder), "rb") as file:
                status = os.fstat(file.fileno())
                is_fit = stat.S_ISREG(status.st_mode) and status.st_size <= SEARCH_FILE_BYTES
                raw = file.read(SEARCH_FILE_BYTES) if is_fit else b""
        except OSError:
            return ""
        decoded = decode_text(raw)
        return "" if decoded is None else decoded.text.removesuffix("\n")


class _Results:
    """The first results that fit, and how many there are."""

    def __init__(self, limit: int) -> None:
        self.items: list[Any] = []
        self.total = 0
        self.is_cut = False
        self._limit = limit
        self._budget = SEARCH_CONTENT_BYTES

    def add(self, item: object) -> None:
        self.total += 1
        if self.is_cut:
            return
        self._budget -= len(to_json(item).encode()) + 1
        self.is_cut = len(self.items) >= self._limit or self._budget < 0
        if not self.is_cut:
            self.items.append(item)


def _short(line: str) -> str:
    cut = cut_utf8(line, SEARCH_LINE_BYTES)
    return line if cut == line else cut_utf8(line, SEARCH_LINE_BYTES - len("…".encode())) + "…"

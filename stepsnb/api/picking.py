"""Pipelines to pick from: what `load()` without a path finds, and the one that was picked."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from ..errors import InputError
from ..suggest import unknown_name
from .options import Functions, current_folder
from .pipeline import LoadedPipeline, load

_SUFFIXES = (".yml", ".yaml")
_DEPTH = 3
_MAX_FILES = 200
_MAX_LOOKED_AT = 2_000
_HEAD_BYTES = 100_000
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})
_HAS_JOBS = re.compile(rb"^jobs:", re.M)


class PipelinePicker:
    """The pipelines in the current folder and below; in a notebook its display lets a person pick one.

    `pick` does the same from Python. `pipeline` is what was picked.
    """

    def __init__(self, *, vars: Mapping[str, object] | None = None, functions: Functions | None = None) -> None:
        self._vars = vars
        self._functions = functions
        self._folder = current_folder()
        self._picked: LoadedPipeline | None = None

    @property
    def files(self) -> list[str]:
        """Paths of the YAML files with `jobs:`, from the current folder on, three folders deep.

        At most 200, and among the first 2,000 YAML files only: a home folder is not searched to its end.
        """
        found: list[str] = []
        for path in islice(_yaml_files(self._folder, _DEPTH), _MAX_LOOKED_AT):
            if _is_pipeline(path):
                found.append(str(path.relative_to(self._folder)))
            if len(found) == _MAX_FILES:
                break
        return found

    @property
    def pipeline(self) -> LoadedPipeline:
        """What was picked. Raises: InputError when nothing was yet."""
        if self._picked is None:
            raise InputError("no pipeline was picked yet; click one in the notebook, or `.pick(FILE)`")
        return self._picked

    def pick(self, file: str) -> LoadedPipeline:
        """Load one of `files`; its variables may get their values later.

        Raises: InputError for another file; ConfigError listing every problem of the pipeline.
        """
        files = self.files
        if file not in files:
            raise InputError(unknown_name("pipeline", file, files))
        path = self._folder / file
        self._picked = load(path, vars=self._vars, functions=self._functions, leave_open=True)
        return self._picked

    def __repr__(self) -> str:
        files = self.files
        if not files:
            return f"no pipeline in {self._folder} or below: there is no .yml or .yaml file with `jobs:`"
        return "\n".join(["pipelines to load:", *(f"  {file}" for file in files)])


def _yaml_files(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the YAML files of a folder, then those of the folders in it; hidden ones and links are left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # one that may not be read has nothing to pick from
    for entry in entries:
        if entry.name.endswith(_SUFFIXES) and not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
    if depth:
        for entry in entries:
            is_wanted = not entry.name.startswith(".") and entry.name not in _PASSED_OVER
            if is_wanted and entry.is_dir(follow_symlinks=False):
                yield from _yaml_files(Path(entry.path), depth - 1)


def _is_pipeline(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _HAS_JOBS.search(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False

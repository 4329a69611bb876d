"""Brings a notebook's own files in as artifacts: the resource type `path`, and files handed to a run."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..config import FILES_ARTIFACT
from ..errors import InputError, WorkspaceError
from ..suggest import unknown_name
from .globs import check_glob, match_glob
from .run_workspace import RunWorkspace, explain_os_error
from .sharing import copy_file
from .trees import ArtifactTree, IsIgnored, UnfitEntry, copy_tree, digest_file, digest_tree

_STORE_NAME = ".steps"
"""A store's usual name; never part of what is brought in."""


def fetch_path(source: Mapping[str, object], *, name: str, base_dir: Path, workspace: RunWorkspace) -> ArtifactTree:
    """Fetch the file or folder a `path` resource names.

    Args:
        source: `path`, relative to `base_dir`, and optionally `ignore`, a list of globs: one without `/` is matched
            against the name of every file and folder, one with `/` against the path inside the folder.

    Raises: InputError for a source that says something else, WorkspaceError for files that cannot be brought in.
    """
    where = f"resource `{name}`"

    def fill(tree: Path) -> None:
        fill_from_path(source, tree, where=where, base_dir=base_dir, store_root=workspace.root)

    with _explained(where):
        return workspace.add_tree(name, fill)


def fill_from_path(source: Mapping[str, object], folder: Path, *, where: str, base_dir: Path, store_root: Path) -> None:
    """Copy what the source of a `path` resource names into the empty `folder`; see `fetch_path`.

    `where` begins every message; the folder `store_root` is never part of what is copied.
    """
    _copy_in(_find_source(source, where, base_dir, store_root), where, folder)


def digest_path(source: Mapping[str, object], *, where: str, base_dir: Path, store_root: Path) -> str:
    """Return the digest that the artifact of a `path` resource would have; nothing is copied. See `fetch_path`."""
    found = _find_source(source, where, base_dir, store_root)
    with _explained(where):
        if found.place.is_dir():
            return digest_tree(found.place, where, is_ignored=found.is_ignored).digest
        return digest_file(found.place, found.entry)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file or folder to bring in, and the name it has there; a folder's content comes without its name."""

    entry: str
    place: Path
    is_ignored: IsIgnored


def _find_source(source: Mapping[str, object], where: str, base_dir: Path, store_root: Path) -> _Found:
    path, ignore = _check_source(source, where)
    try:
        entry, place = _find(path, base_dir)
    except WorkspaceError as exc:
        raise WorkspaceError(f"{where}: {exc}; correct `path:`, or create it") from exc
    return _Found(entry, place, _ignoring(ignore, place, store_root))


def _copy_in(found: _Found, where: str, folder: Path) -> None:
    with _explained(where):
        if found.place.is_dir():
            copy_tree(found.place, folder, is_ignored=found.is_ignored)
        else:
            _copy_one(found.place, folder / found.entry)


def gather_files(paths: Sequence[str | Path], *, base_dir: Path, workspace: RunWorkspace) -> ArtifactTree:
    """Make the artifact `files` of files and folders handed to a run, each under its own name.

    Raises: InputError naming every path that is missing, and names that come twice.
    """
    found: dict[str, Path] = {}
    problems = []
    for path in paths:
        try:
            name, place = _find(path, base_dir)
        except WorkspaceError as exc:
            problems.append(str(exc))
            continue
        if found.setdefault(name, place) != place:
            problems.append(f"`{path}` and `{found[name]}` have the same name; rename one, or hand in their folder")
    if problems:
        raise InputError(f"files: {'; '.join(problems)}")
    return _bring_in(found, workspace)


def _check_source(source: Mapping[str, object], where: str) -> tuple[str, list[str]]:
    known = ("ignore", "path")
    problems = [unknown_name("key", key, known) for key in source if key not in known]
    path, ignore = source.get("path"), source.get("ignore", [])
    if not isinstance(path, str) or not path:
        problems.append("`path:` must name a file or folder")
        path = ""
    if not isinstance(ignore, list | tuple) or not all(isinstance(glob, str) for glob in ignore):
        problems.append('`ignore:` must be a list of globs, as in `["*.log", "build"]`')
        ignore = []
    globs = [str(glob).rstrip("/") for glob in ignore]
    problems += [problem for glob in globs if (problem := check_glob(glob))]
    if problems:
        raise InputError(f"{where}: {'; '.join(problems)}")
    return path, globs


def _find(path: str | Path, base_dir: Path) -> tuple[str, Path]:
    """Return the name that what a person named has there, and its real place."""
    try:
        written = base_dir / Path(path).expanduser()
        name, place = Path(os.path.abspath(written)).name, written.resolve(strict=True)  # noqa: PTH100 - `..` by text
    except (FileNotFoundError, NotADirectoryError):
        raise WorkspaceError(f"no file or folder `{path}` in `{base_dir}`") from None
    except OSError as exc:
        raise WorkspaceError(f"cannot look at `{path}` in `{base_dir}`: {explain_os_error(exc)}") from exc
    except (ValueError, RuntimeError) as exc:  # not a usable name; a `~` whose home is not known
        raise WorkspaceError(f"`{path}` is no usable path: {exc}") from exc
    return name or "root", place


def _bring_in(found: Mapping[str, Path], workspace: RunWorkspace) -> ArtifactTree:
    def fill(tree: Path) -> None:
        for entry, place in found.items():
            if place.is_dir():
                (tree / entry).mkdir()
                copy_tree(place, tree / entry, is_ignored=_ignoring([], place, workspace.root))
            else:
                _copy_one(place, tree / entry)

    with _explained("files", instead="leave it out"):
        return workspace.add_tree(FILES_ARTIFACT, fill)


def _copy_one(place: Path, target: Path) -> None:
    if not place.is_file():
        raise UnfitEntry(f"`{place}` is neither a file nor a folder")
    copy_file(place, target)


@contextlib.contextmanager
def _explained(
    where: str, instead: str = "add it to `ignore:`, or bring in what it leads to by itself"
) -> Iterator[None]:
    try:
        yield
    except UnfitEntry as exc:
        raise WorkspaceError(f"{where}: {exc}, which an artifact cannot hold; {instead}") from exc
    except OSError as exc:
        raise WorkspaceError(f"{where}: {explain_os_error(exc)}") from exc


def _ignoring(globs: Sequence[str], folder: Path, store_root: Path) -> IsIgnored:
    store = store_root.resolve()

    def is_ignored(path: str) -> bool:
        entry = path.rpartition("/")[2]
        return (
            entry == _STORE_NAME
            or folder / path == store
            or any(match_glob(glob, path if "/" in glob else entry) for glob in globs)
        )

    return is_ignored

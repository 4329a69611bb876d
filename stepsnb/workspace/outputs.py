"""Copies an artifact to a folder of the user's; nothing of theirs is replaced unless they say so."""

import filecmp
import os
from pathlib import Path
from tempfile import mkdtemp

from ..errors import InputError, WorkspaceError
from .paths import Root
from .run_workspace import explain_os_error
from .sharing import copy_file
from .trees import list_files, remove_tree, shown

_SHOWN = 5


def copy_out(tree: Path, target: Path, *, force: bool = False) -> tuple[str, ...]:
    """Copy the files of an artifact into the folder `target`, which is made when it is missing.

    A file that is there already with the same content is left alone; with other content it is replaced only when
    `force` is set, and without it nothing at all is written.

    Returns: the relative paths that were written.
    Raises: InputError naming what is in the way; WorkspaceError when copying fails.
    """
    if not tree.is_dir():
        raise WorkspaceError(f"the artifact `{tree.name}` is gone from the store; run its step again")
    try:
        if target.exists() and not target.is_dir():
            raise InputError(f"`{target}` is a file; name a folder to copy into")
        return _copy(tree, target, force)
    except OSError as exc:
        raise WorkspaceError(f"cannot copy to `{target}`: {explain_os_error(exc)}") from exc


def _copy(tree: Path, target: Path, force: bool) -> tuple[str, ...]:
    root = Root(target)
    wanted = [path for path in list_files(tree) if not _is_same(tree / path, target / path)]
    blocked = [path for path in wanted if not _can_be_put(root, path)]
    if blocked:
        raise InputError(f"in `{target}`, {_some(blocked)} cannot be a file: a folder or a link is in the way")
    taken = [path for path in wanted if os.path.lexists(target / path)]
    if taken and not force:
        raise InputError(
            f"`{target}` already has {_some(taken)} with other content; name another folder, or force the copy"
        )
    for path in wanted:
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        _put(tree / path, place)
    return tuple(map(shown, wanted))


def _put(source: Path, place: Path) -> None:
    """Put a copy at `place` in one step, never through a link that is there."""
    scratch = Path(mkdtemp(prefix=".steps-copy-", dir=place.parent))
    try:
        if source.is_symlink():
            (scratch / "copy").symlink_to(source.readlink())
        else:
            copy_file(source, scratch / "copy")
        (scratch / "copy").replace(place)
    finally:
        remove_tree(scratch)


def _is_same(source: Path, place: Path) -> bool:
    if source.is_symlink() or place.is_symlink():
        return source.is_symlink() and place.is_symlink() and source.readlink() == place.readlink()
    return place.is_file() and filecmp.cmp(source, place, shallow=False)


def _can_be_put(root: Root, path: str) -> bool:
    """Whether a file may be at `path`: its folders are inside the target, or not there yet, and it is no folder."""
    parent = path.rpartition("/")[0]
    place = root.path / path
    try:
        folder = root.resolve(parent)
    except WorkspaceError:
        return False
    while not folder.exists():
        folder = folder.parent
    return folder.is_dir() and (place.is_symlink() or not place.is_dir())


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(f"`{shown(path)}`" for path in paths[:_SHOWN]) + more

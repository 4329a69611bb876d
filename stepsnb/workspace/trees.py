"""Copies, digests and removes trees of files; an artifact is such a tree, named by its content."""

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import WorkspaceError
from .paths import kind_of
from .sharing import copy_file

CopyFile = Callable[[Path, Path], None]

IsIgnored = Callable[[str], bool]
"""Tells by its path in the tree whether an entry, and what is below it, is left out."""

_SCHEME = b"stepsnb tree 1\n"


@dataclass(frozen=True, slots=True)
class ArtifactTree:
    """A captured tree.

    `path` holds it in the store, `files` are the relative paths of its files and links in order, `bytes` the size of
    the files together. `digest` covers relative paths, contents, executable bits, links and folders.
    """

    name: str
    path: Path
    digest: str
    files: tuple[str, ...]
    bytes: int


class UnfitEntry(WorkspaceError):
    """Something that cannot be part of an artifact; callers say what to do instead."""


def nothing_ignored(path: str) -> bool:
    """Leave nothing out."""
    return False


def copy_tree(
    source: Path, target: Path, *, is_ignored: IsIgnored = nothing_ignored, copy: CopyFile | None = None
) -> None:
    """Copy what is in the folder `source` into the folder `target`, which must exist.

    Times, permissions and symbolic links are kept, except that the owner may always read and write the copy.

    Args:
        copy: Makes one file of the copy; `copy_file` when None.

    Raises: UnfitEntry for pipes, sockets and devices; OSError.
    """
    copy = copy or copy_file
    for path, entry in _walk(source, is_ignored):
        place = target / path
        if entry.is_symlink():
            place.symlink_to(Path(entry.path).readlink())
        elif entry.is_dir(follow_symlinks=False):
            place.mkdir()
        elif entry.is_file(follow_symlinks=False):
            copy(Path(entry.path), place)
        else:
            raise UnfitEntry(f"`{shown(path)}` is {kind_of(entry.stat(follow_symlinks=False).st_mode)}")


def digest_tree(tree: Path, name: str, *, is_ignored: IsIgnored = nothing_ignored) -> ArtifactTree:
    """Read a whole tree and describe it.

    Raises: UnfitEntry for a symbolic link that does not stay inside the tree, in whatever place the tree is put, and
        for pipes, sockets and devices.
    """
    whole = hashlib.sha256(_SCHEME)
    files: list[str] = []
    size = 0
    for path, entry in _walk(tree, is_ignored):
        if entry.is_dir(follow_symlinks=False):
            _digest_entry(whole, b"d", path, b"")
            continue
        if entry.is_symlink():
            check_link(tree, path)
            _digest_entry(whole, b"l", path, os.fsencode(Path(entry.path).readlink()))
        elif entry.is_file(follow_symlinks=False):
            size += _digest_content(whole, Path(entry.path), path)
        else:
            raise UnfitEntry(f"`{shown(path)}` is {kind_of(entry.stat(follow_symlinks=False).st_mode)}")
        files.append(shown(path))
    return ArtifactTree(name=name, path=tree, digest=whole.hexdigest(), files=tuple(sorted(files)), bytes=size)


def digest_file(place: Path, path: str) -> str:
    """Return the digest of a tree that holds nothing but the file `place`, as `path`."""
    whole = hashlib.sha256(_SCHEME)
    _digest_content(whole, place, path)
    return whole.hexdigest()


def _digest_content(whole: "hashlib._Hash", place: Path, path: str) -> int:
    status = place.stat(follow_symlinks=False)
    with place.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").digest()
    _digest_entry(whole, b"x" if status.st_mode & stat.S_IXUSR else b"f", path, content)
    return status.st_size


def _digest_entry(whole: "hashlib._Hash", kind: bytes, path: str, content: bytes) -> None:
    for part in (kind, os.fsencode(path), content):
        whole.update(len(part).to_bytes(8, "big") + part)


def list_files(tree: Path) -> list[str]:
    """Return the relative paths of all files and links in a tree, in order, as the file system has them."""
    return sorted(path for path, entry in _walk(tree, nothing_ignored) if not entry.is_dir(follow_symlinks=False))


def check_link(tree: Path, path: str) -> None:
    """Refuse a symbolic link at `path` that leads out of `tree`, or would do so in another place.

    Both by where it really leads, and by its text: a link that leaves the tree and comes back by the tree's own name
    leads elsewhere once the tree is copied.
    """
    link = tree / path
    text = os.fspath(link.readlink())
    inside = os.path.normpath(os.path.join(os.path.dirname(path), text))  # noqa: PTH118, PTH120 - by text alone
    stays = not os.path.isabs(text) and inside.split("/")[0] != ".."  # noqa: PTH117 - by text alone
    if not stays or not Path(os.path.realpath(link)).is_relative_to(os.path.realpath(tree)):
        raise UnfitEntry(f"`{shown(path)}` is a symbolic link that leads out")


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it as far as the system allows, read-only and very deep folders included."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        # Folders only: a file may be a link that shares its permissions with the store.
        place = str(folder)
        for command in (["find", place, "-type", "d", "-exec", "chmod", "u+rwx", "{}", ";"], ["rm", "-rf", place]):
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def shown(path: str) -> str:
    r"""Write a path as text that is always valid Unicode; bytes of a name that are not UTF-8 become `\xNN`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _walk(folder: Path, is_ignored: IsIgnored) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Yield every entry below `folder` with its relative path, in a fixed order, folders before what is in them."""
    pending = [("", folder)]  # not recursive: a runaway loop of `mkdir` and `cd` is deeper than Python's stack
    while pending:
        prefix, place = pending.pop()
        with os.scandir(place) as listing:
            entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
        for entry in entries:
            path = prefix + entry.name
            if is_ignored(path):
                continue
            yield path, entry
            if entry.is_dir(follow_symlinks=False):
                pending.append((path + "/", Path(entry.path)))

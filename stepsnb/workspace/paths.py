"""Keeps the paths of file tools inside one folder; a refusal is a `PathEscape`, and nothing has been touched then."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import WorkspaceError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class PathEscape(WorkspaceError):
    """A path that does not stay inside its root; the message names the path as it was given."""


def kind_of(mode: int) -> str:
    """Name what a file mode says a file is, as in "a named pipe"."""
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "a device")


class Root:
    """A folder that paths are confined to; relative ones start at its `base`, which is the folder or one inside it.

    A path is judged by where it really leads, symbolic links and all. What is opened through a root is opened one
    folder at a time from the root's own, following no link, so a link put in place after the check is not followed
    either.
    """

    __slots__ = ("base", "path")

    def __init__(self, path: Path, base: str = ".") -> None:
        """Confine paths to `path`. Raises: PathEscape when `base` leads out of it."""
        self.path = self.base = Path(os.path.realpath(path))
        if base != ".":
            self.base = self.resolve(base)

    def resolve(self, relative: str) -> Path:
        """Return the real path `relative` names; it need not exist.

        Raises: PathEscape when it leads outside, and for spellings that could only be meant so or name nothing:
            `~`, backslashes, NUL, characters no file name can hold.
        """
        if "\0" in relative:
            raise PathEscape(f"`{relative.replace(chr(0), '?')}` holds a NUL character; no file name can")
        if "\\" in relative:
            raise PathEscape(f"`{relative}` has a backslash; separate folders with `/`")
        if relative == "~" or relative.startswith("~/"):
            raise _outside(relative)
        try:
            found = Path(os.path.realpath(self.base / relative))
        except UnicodeEncodeError as exc:
            raise PathEscape("the path holds half of a surrogate pair; no file name can") from exc
        if not found.is_relative_to(self.path):
            raise _outside(relative)
        return found

    def relative(self, path: Path) -> str:
        """Write a real path inside the root the way tools and people name it: relative, with `/`."""
        return Path(os.path.relpath(path, self.base)).as_posix()

    def open_read(self, relative: str) -> BinaryIO:
        """Open a regular file for reading; never waits, whatever `relative` names.

        Raises: PathEscape; WorkspaceError for what is neither file nor folder; OSError.
        """
        with self._folder_of(relative) as (folder, name):
            _check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, relative)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.fdopen(os.open(name, flags, dir_fd=folder), "rb")
        return _checked(file, relative)

    def open_write(self, relative: str, *, append: bool = False) -> BinaryIO:
        """Open a regular file for writing, emptied unless `append`; its folder must exist.

        Raises: PathEscape; WorkspaceError for what is neither file nor folder; OSError.
        """
        with self._folder_of(relative) as (folder, name):
            with contextlib.suppress(FileNotFoundError):
                _check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, relative)
            # Emptied after the next check rather than by O_TRUNC; O_NONBLOCK makes a named pipe fail, not wait.
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            fd = os.open(name, flags | (os.O_APPEND if append else 0), 0o666, dir_fd=folder)
            file = os.fdopen(fd, "ab" if append else "wb")
        _checked(file, relative)
        if not append:
            file.truncate(0)
        return file

    def replace_file(self, relative: str, raw: bytes) -> None:
        """Give a regular file that is there a new content at once: nobody ever sees a part of it. Its mode stays.

        Raises: PathEscape; WorkspaceError for what is no file and for a file nobody may write; OSError.
        """
        with self._folder_of(relative) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            _check_regular(status.st_mode, relative)
            if not status.st_mode & 0o222 or not os.access(name, os.W_OK, dir_fd=folder):
                raise WorkspaceError(f"`{relative}` is read-only; make it writable first (run_shell: chmod u+w)")
            draft = f".{secrets.token_hex(8)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with os.fdopen(os.open(draft, flags, 0o600, dir_fd=folder), "wb") as file:
                    file.write(raw)
                    with contextlib.suppress(OSError):  # only the superuser may give a file away
                        os.fchown(file.fileno(), status.st_uid, status.st_gid)
                    os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
                os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)
                raise

    @contextlib.contextmanager
    def _folder_of(self, relative: str) -> Iterator[tuple[int, str]]:
        """Open the folder that holds `relative`, and name the file in it."""
        parts = self.resolve(relative).relative_to(self.path).parts
        if not parts:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), relative)
        folder = os.open(self.path, _FOLDER)
        try:
            for part in parts[:-1]:
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder, parts[-1]
        finally:
            os.close(folder)


def _outside(relative: str) -> PathEscape:
    return PathEscape(f"`{relative}` is outside the working directory; use a relative path inside it")


def _checked(file: BinaryIO, relative: str) -> BinaryIO:
    try:
        _check_regular(os.fstat(file.fileno()).st_mode, relative)
    except (OSError, WorkspaceError):
        file.close()
        raise
    return file


def _check_regular(mode: int, relative: str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), relative)
    if not stat.S_ISREG(mode):
        raise WorkspaceError(f"`{relative}` is {kind_of(mode)}, not a file")

"""Makes a file again without copying its bytes, where the file system and what happens to the copy allow it."""

import contextlib
import fcntl
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Final

_FICLONE: Final = 0x40049409
"""From `linux/fs.h`: let a file share the blocks of another until one of them is written to."""


def copy_file(source: Path, target: Path) -> None:
    """Copy one regular file with its times and permissions; the owner may always read and write the copy.

    The copy shares the blocks of the original where the file system can (Btrfs, XFS, bcachefs, OCFS2); writing to
    either then leaves the other as it is. Where it cannot, the bytes are copied.

    Raises: OSError.
    """
    # Not through a link, and not waiting for what took the file's place meanwhile, such as a named pipe.
    with open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as original:  # noqa: PTH123
        status = os.fstat(original.fileno())
        with target.open("xb") as copy:
            is_shared = _share_blocks(original.fileno(), copy.fileno())
    if not is_shared:
        shutil.copyfile(source, target, follow_symlinks=False)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    target.chmod(stat.S_IMODE(status.st_mode) & 0o777 | 0o600)


def link_file(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where that cannot be.

    Both names are the same file, so this is only for places where nothing can write or change permissions: read-only
    permissions do not hold off the owner of a file, who may change them, and much less the superuser.

    Raises: OSError.
    """
    if not _link(source, target):
        copy_file(source, target)


def _share_blocks(original: int, copy: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(copy, _FICLONE, original)
    except OSError:  # another file system, or one that cannot
        return False
    return True


def _link(source: Path, target: Path) -> bool:
    with contextlib.suppress(OSError):  # another file system, one without links, or the most a file may have
        os.link(source, target, follow_symlinks=False)
        return True
    return False

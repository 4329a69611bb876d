"""The files of a spool: how one is written, and how its tail is read back while its writer may still be at work.

A segment is locked by its writer (`flock`) for as long as the writer lives. It appears under its name only once it
is locked, so a visible segment without a lock will never grow again.
"""

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, Self

from ..settings import SPOOL_READ_BYTES
from .folder import PRIVATE_FILE, SEGMENT_SUFFIX, flush_folder
from .records import Record, decode_record


class Segment:
    """A file being appended to by this process; not thread-safe."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.size = 0
        self.is_broken = False
        """An incomplete line could not be taken back, so nothing may follow it here."""
        self._fd = fd
        self._is_entry_durable = False

    @classmethod
    def create(cls, path: Path) -> Self:
        """Create a file at `path`, locked before anyone can see it."""
        hidden = path.with_name(f".{path.name}.new")
        fd = os.open(hidden, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            hidden.rename(path)
        except OSError:
            os.close(fd)
            hidden.unlink(missing_ok=True)
            raise
        return cls(path, fd)

    @property
    def is_linked(self) -> bool:
        """Whether the file can still be found under its name."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self._fd))
        except FileNotFoundError:
            return False

    def write(self, line: bytes) -> None:
        """Append one line whole; what was written of it before an error is taken back."""
        written = 0
        try:
            while written < len(line):
                written += os.write(self._fd, line[written:] if written else line)
        except OSError:
            if written:
                self._take_back(written)
            raise
        self.size += written

    def _take_back(self, written: int) -> None:
        # No reader has gone past an incomplete line, so cutting it moves nothing anybody has read.
        try:
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
        except OSError:
            self.is_broken = True

    def flush(self) -> None:
        """Wait until everything written has reached the disk, the file's name included."""
        flush_to_disk(self._fd)
        if os.fstat(self._fd).st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, "it was deleted while runs were being recorded in it")
        if not self._is_entry_durable:
            flush_folder(self.path.parent)
            self._is_entry_durable = True

    def close(self) -> None:
        """Close the file, and with it give up its lock."""
        os.close(self._fd)


def flush_to_disk(fd: int) -> None:
    """Block until the file's data is on the disk."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # fsync there only reaches the drive's own cache
    else:
        os.fdatasync(fd)


class SegmentName(NamedTuple):
    """A segment's file name taken apart; sorts by writer, then in the order of writing."""

    writer: str
    number: int

    @classmethod
    def parse(cls, file_name: str) -> Self | None:
        """Take a file name apart; None when it is no segment's."""
        writer, _, number = file_name.removesuffix(SEGMENT_SUFFIX).rpartition(".")
        if not file_name.endswith(SEGMENT_SUFFIX) or not writer or not number.isdigit():
            return None
        return cls(writer, int(number))

    def __str__(self) -> str:
        return f"{self.writer}.{self.number:04d}{SEGMENT_SUFFIX}"


def list_segments(folder: Path) -> list[SegmentName]:
    """Return the segments in a spool folder, each writer's in the order of writing."""
    try:
        names = [SegmentName.parse(entry.name) for entry in os.scandir(folder)]
    except FileNotFoundError:
        return []
    return sorted(name for name in names if name is not None)


def is_live(path: Path) -> bool:
    """Whether the process that writes the segment is still there.

    Raises: FileNotFoundError.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Shared, so that two readers asking at once do not take each other for the writer.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


DAMAGED: Final = "damaged or missing records"
UNFINISHED: Final = "a last line that was never finished"
SHORTENED: Final = "shorter than what had been read from it"


class Found(NamedTuple):
    """A valid record of a segment; `end` is the byte after its line."""

    record: Record
    end: int


class Damage(NamedTuple):
    """Bytes of a segment that hold no usable record and were skipped; `reason` is one of the three above.

    An unfinished last line is what a killed writer may leave: nobody was told that it had been recorded.
    """

    segment: str
    position: int
    end: int
    events_lost: int
    reason: str

    def __str__(self) -> str:
        return f"{self.segment}: {self.reason} at byte {self.position}, events lost: {self.events_lost}"


def read_tail(path: Path, position: int, expected: int | None, *, live: bool) -> Iterator[Found | Damage]:
    """Yield what a segment holds from `position` on, in order.

    What cannot be read is skipped up to the next valid record and yielded as `Damage`. At the end of a live
    writer's segment it is left for later instead: the rest of a line may be on its way.

    Args:
        path: The segment's file.
        position: Where an earlier reader stopped.
        expected: Sequence number of the next record; None to take whatever comes first.
        live: Whether the writer was alive just before this call.

    Raises: StoreError if a record is in a newer format; FileNotFoundError.
    """
    size = path.stat().st_size
    if size < position:
        yield Damage(path.name, size, size, 0, SHORTENED)
        position = size
    bad_from: int | None = None
    bad_lines = 0
    end = position
    for line, start, end, is_whole in _lines(path, position):
        record = decode_record(line) if is_whole else None
        if record is None or (expected is not None and record.seq < expected):
            bad_from = start if bad_from is None else bad_from
            bad_lines += is_whole
            continue
        lost = 0 if expected is None else record.seq - expected
        if bad_from is not None or lost:
            yield Damage(path.name, start if bad_from is None else bad_from, start, lost, DAMAGED)
            bad_from, bad_lines = None, 0
        yield Found(record, end)
        expected = record.seq + 1
    if bad_from is not None and not live:
        yield Damage(path.name, bad_from, end, bad_lines, DAMAGED if bad_lines else UNFINISHED)


def _lines(path: Path, position: int) -> Iterator[tuple[bytes, int, int, bool]]:
    """Yield each line with its start, the byte after it, and whether it is whole; only the last may not be."""
    rest = b""
    with path.open("rb") as file:
        file.seek(position)
        while chunk := file.read(SPOOL_READ_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                end = position + len(line) + 1
                yield line, position, end, True
                position = end
    if rest:
        yield rest, position, position + len(rest), False

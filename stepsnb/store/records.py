"""One line of a spool or journal: checksum, format version, sequence number and a JSON payload.

    d87f7e0c 1 42 {"kind":"turn_started",...}

The checksum (CRC-32, eight hex digits) covers everything after it, so a torn or flipped line is known as such;
the sequence number counts from 0 within a writer, so a missing line is known too.
"""

from typing import Final, NamedTuple
from zlib import crc32

from ..errors import StoreError

FORMAT_VERSION: Final = 1

_VERSION: Final = b"%d" % FORMAT_VERSION


class Record(NamedTuple):
    """What one valid line holds."""

    seq: int
    payload: bytes


def encode_record(seq: int, payload: bytes) -> bytes:
    """Build the line of `payload`, which must not hold a line feed, with its line end."""
    body = b"%b %d %b" % (_VERSION, seq, payload)
    return b"%08x %b\n" % (crc32(body), body)


def decode_record(line: bytes) -> Record | None:
    """Read a line without its line end; None when it is damaged.

    Raises: StoreError if the line is whole but was written in a format this stepsnb does not know.
    """
    checksum, _, body = line.partition(b" ")
    if checksum != b"%08x" % crc32(body):
        return None
    version, _, rest = body.partition(b" ")
    if version != _VERSION:
        written = version.decode("ascii", "replace")
        raise StoreError(f"record format {written}, this stepsnb knows up to {FORMAT_VERSION}; upgrade stepsnb")
    seq, _, payload = rest.partition(b" ")
    return Record(int(seq), payload) if seq.isdigit() else None

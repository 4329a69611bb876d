"""Server-sent events out of a byte stream that may be split anywhere.

Source: WHATWG HTML, "Server-sent events", 9.2.6: lines end in LF, CRLF or CR, a line that begins with a colon is
a comment, the data lines of one event are joined by LF.
"""

_BOM = b"\xef\xbb\xbf"


class EventParser:
    """Gives the `data` of each event as soon as its last line end has arrived.

    Works on bytes: a character split between two reads is whole again when its event is.
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # pieces of the line that has not ended yet
        self._data: list[bytes] = []  # data lines of the event that has not ended yet
        self._ended_in_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes and return the events they completed."""
        if self._ended_in_cr:
            # The CR has ended its line already; the LF of a CRLF split between two reads ends nothing more.
            self._ended_in_cr = False
            if chunk[:1] == b"\n":
                chunk = chunk[1:]
        if b"\n" not in chunk and b"\r" not in chunk:
            self._tail.append(chunk)
            return []
        if self._tail:
            self._tail.append(chunk)
            chunk = b"".join(self._tail)
            self._tail.clear()
        if self._at_start:
            self._at_start = False
            chunk = chunk.removeprefix(_BOM)
        lines = chunk.splitlines()  # bytes split at LF, CRLF and CR only
        self._ended_in_cr = chunk.endswith(b"\r")
        if not self._ended_in_cr and not chunk.endswith(b"\n"):
            self._tail.append(lines.pop())
        return self._events(lines)

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if data:
                    events.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
            elif line == b"data":
                data.append(b"")
        return events

    def close(self) -> list[bytes]:
        """Return the event that the stream ended in without an empty line after it, if any.

        The specification drops it. Servers that forget the last empty line are common, and half an event does
        not parse, so nothing wrong comes of keeping it.
        """
        lines = [b"".join(self._tail)] if self._tail else []
        self._tail.clear()
        return self._events([*lines, b""])

"""Reads a response body as it arrives: a stream of events, or one JSON document where a stream was asked for."""

import msgspec

from . import failures
from .assembly import Assembly
from .chunks import Chunk, decode_chunk
from .stream import EventParser
from .target import Target

_DONE = b"[DONE]"


class ReplyReader:
    """Takes the bytes of one good response and fills an `Assembly`; `finish` says whether the reply is whole."""

    def __init__(self, target: Target, assembly: Assembly) -> None:
        self.is_done = False
        """Whether the stream has said that nothing more will come."""
        self.status = 200
        self.content_type = ""
        self._target = target
        self._assembly = assembly
        self._events: EventParser | None = None
        self._body: list[bytes] = []  # a JSON document, or the start of a body of which only blanks have arrived
        self._is_json = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply is complete, even if its stream is not."""
        return self._assembly.finish_reason is not None or (self.is_done and self._assembly.has_output)

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the body.

        Raises: `RequestFailed` for a chunk that is none, or an error object in the stream.
        """
        if self._events is not None:
            for event in self._events.feed(data):
                self._take(event)
            return
        self._body.append(data)
        if self._is_json:
            return
        # What it is shows in its first character: no line of an event stream begins like this. Blank lines may come
        # before a JSON document, as a sign of life (OpenRouter).
        start = b"".join(self._body)
        head = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if not head:
            return
        if head in b"{[<" or self.content_type.startswith("text/html"):
            self._is_json = True
            return
        self._body.clear()
        self._events = EventParser()
        self.feed(start)

    def finish(self) -> None:
        """Take the end of the body.

        Raises: `RequestFailed` when the reply is not whole.
        """
        if self._events is None:
            body = b"".join(self._body)
            if not body.strip() and self.content_type.startswith("text/event-stream"):
                raise failures.cut_short(self._target, self.status)
            self._take_document(body)
            return
        if not self.is_done:
            for event in self._events.close():
                self._take(event, is_last=True)
        if not self.is_whole:
            raise failures.cut_short(self._target, self.status)

    def _take(self, event: bytes, *, is_last: bool = False) -> None:
        if self.is_done:
            return
        if event.strip() == _DONE:
            self.is_done = True
            return
        try:
            chunk = decode_chunk(event)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            if is_last:  # the stream ended in the middle of it
                return
            raise failures.malformed(self._target, self.status, event, exc) from exc
        self._add(chunk)

    def _take_document(self, body: bytes) -> None:
        try:
            chunk = decode_chunk(body.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise failures.not_a_completion(self._target, self.status, self.content_type, body) from exc
        self._add(chunk)
        if not chunk.choices:
            raise failures.not_a_completion(self._target, self.status, self.content_type, body)
        self.is_done = True

    def _add(self, chunk: Chunk) -> None:
        self._assembly.add(chunk)
        if self._assembly.error is not None:
            raise failures.failed_midway(self._target, self.status, self._assembly.error)

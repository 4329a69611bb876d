"""What a model says: pieces of text and thinking as they arrive, and the whole reply at the end of its turn."""

from ..events import TextChunk, TextDelta, ThinkingDelta, TurnFinished
from ..settings import VIEW_TEXT_CHARACTERS
from ..visible import clip, visible
from .document import Path
from .incidents import reply_incidents
from .writer import Writer


class _Stream:
    """A text on its way: where its entry is, and how much of it is and may be kept."""

    def __init__(self, path: Path | None, limit: int) -> None:
        self.path = path
        self.limit = limit
        self.kept = 0
        self.is_cut = False


class Replies:
    """Writes the `text` and `thinking` entries of one conversation, one of each a turn at most."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._streams: dict[str, _Stream] = {}
        self._turn = 0
        self._is_live = False

    def start_turn(self, turn: int) -> None:
        """Let what follows begin entries of its own, also where a turn is tried again."""
        self._turn, self._streams, self._is_live = turn, {}, False

    def add_delta(self, event: TextDelta | ThinkingDelta) -> None:
        """Add a piece that was just received."""
        self._meet(event.turn)
        if isinstance(event, ThinkingDelta):
            self._add("thinking", event.delta)
        else:
            self._is_live = True
            self._add("text", event.delta)

    def add_chunk(self, event: TextChunk) -> None:
        """Add a piece that was stored, unless its text was seen when it was received."""
        self._meet(event.turn)
        if not self._is_live:
            self._add("text", event.text)

    def finish_turn(self, event: TurnFinished) -> None:
        """Put the whole reply where its pieces are; pieces that already say the same stay as they are."""
        self._meet(event.turn)
        for kind, whole in (("thinking", event.thinking), ("text", event.text or "")):
            if not whole.strip() and kind not in self._streams:
                continue
            stream = self._stream(kind)
            kept, cut = clip(visible(whole), stream.limit)
            self._writer.replace(stream.path, "text", kept)
            self._writer.set(stream.path, cut=cut)
        for incident in reply_incidents(event):
            self._writer.push("note", tone=incident.tone, text=incident.text)
        self.start_turn(0)

    def _meet(self, turn: int) -> None:
        if turn != self._turn:
            self.start_turn(turn)

    def _add(self, kind: str, piece: str) -> None:
        stream = self._stream(kind)
        kept, cut = clip(visible(piece), stream.limit - stream.kept)
        if cut and not stream.is_cut:
            stream.is_cut = True
            self._writer.set(stream.path, cut=cut)  # the whole figure comes with the whole reply
        stream.kept += len(kept)
        self._writer.append(stream.path, "text", kept)

    def _stream(self, kind: str) -> _Stream:
        if kind not in self._streams:
            path = self._writer.push(kind, text="", cut=0)
            self._streams[kind] = _Stream(path, self._writer.limit(VIEW_TEXT_CHARACTERS))
        return self._streams[kind]

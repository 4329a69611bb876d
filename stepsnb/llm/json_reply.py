"""Reads the replies of json mode: one object with either a tool's name and arguments, or an answer."""

import re

import msgspec

from ..messages import ToolCall
from .assembly import Reading, new_call_id
from .repair import repair_object
from .request import Listener


class _Object(msgspec.Struct):
    tool: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    answer: str | None = None


_decode = msgspec.json.Decoder(_Object).decode
_FENCE = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_FIRST_KEY = re.compile(r'\s*\{\s*"([^"]*)"\s*:\s*(\S)')
_SPECIAL = re.compile(r'["\\]')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def read_json_reply(text: str, finish_reason: str | None) -> Reading:
    """Return the answer or the call in a reply.

    A reply in a fence, or not quite JSON, is mended. One that was cut gives what its answer holds so far, or the call
    with the arguments that had begun, marked as repaired; without arguments it gives neither. A text that is no such
    object at all comes from a server that does not know `response_format`; it is the answer as it stands.
    """
    reply = _read_object(text)
    if reply is not None:
        return _to_reading(reply, text, finish_reason)
    fenced = _FENCE.match(text)
    document = fenced[1] if fenced else text
    if document.lstrip()[:1] != "{":
        return Reading(text, (), finish_reason)
    reply = _read_object(document)
    if reply is None:
        mended = repair_object(document)
        reply = None if mended is None else _read_object(mended)
        is_call = reply is not None and reply.tool is not None and _has_arguments(reply)
        if finish_reason in (None, "length") and not is_call:
            return Reading(_partial_answer(document), (), finish_reason)
    if reply is None or (reply.tool is None and reply.answer is None):
        return Reading(text, (), finish_reason)
    return _to_reading(reply, text, finish_reason, is_mended=True)


def _read_object(document: str) -> _Object | None:
    try:
        return _decode(document)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _to_reading(reply: _Object, text: str, finish_reason: str | None, *, is_mended: bool = False) -> Reading:
    if reply.tool is None:
        return Reading(text if reply.answer is None else reply.answer, (), finish_reason, is_mended)
    call = ToolCall(
        id=new_call_id(),
        name=reply.tool,
        arguments=bytes(reply.arguments).decode(),
        repaired=is_mended,
        raw=text if is_mended else None,
    )
    # A mended one may be a cut one; that is for the loop to decide.
    is_cut = is_mended and finish_reason == "length"
    return Reading(None, (call,), "length" if is_cut else "tool_calls", is_mended)


def _has_arguments(reply: _Object) -> bool:
    return bytes(reply.arguments).strip(b"{} \t\r\n") != b""


def read_partial_answer(text: str) -> str | None:
    """Return what a reply that broke off holds of an answer; None when it was none."""
    return _partial_answer(text) if text.lstrip()[:1] == "{" else text


def _partial_answer(document: str) -> str | None:
    stream = AnswerStream(None)
    stream.text(document)
    return stream.answer


class AnswerStream:
    """Passes on the text of the `answer` while it arrives, and nothing of a tool call.

    `answer` is what has arrived of it; None while it is not known to be one.
    """

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self._start = ""  # kept until the first key has arrived
        self._is_decided = False
        self._string: _StringDecoder | None = None
        self._is_plain = False
        self._parts: list[str] | None = None

    @property
    def answer(self) -> str | None:
        """The answer so far."""
        return None if self._parts is None else "".join(self._parts)

    def thinking(self, delta: str) -> None:
        """Pass on a piece of thinking."""
        if self._listener is not None:
            self._listener.thinking(delta)

    def text(self, delta: str) -> None:
        """Take the next piece of the reply."""
        if not self._is_decided:
            self._start += delta
            delta = self._decide()
        if self._string is not None:
            delta = self._string.feed(delta)
        elif not self._is_plain:
            return
        if delta and self._parts is not None:
            self._parts.append(delta)
            if self._listener is not None:
                self._listener.text(delta)

    def _decide(self) -> str:
        """Tell an answer from a call by the first key; return what of the answer has arrived with it."""
        start = self._start
        head = start.lstrip()[:1]
        if head and head not in "{`":
            self._is_decided = self._is_plain = True
            self._parts = []
            return start
        key = _FIRST_KEY.match(start)
        if key is None:
            return ""
        self._is_decided = True
        if key[1] != "answer" or key[2] != '"':
            return ""
        self._string = _StringDecoder()
        self._parts = []
        return start[key.end() :]


class _StringDecoder:
    """Decodes a JSON string that arrives in pieces, up to its closing quote."""

    def __init__(self) -> None:
        self._pending = ""  # an escape that has not arrived whole
        self._is_closed = False

    def feed(self, raw: str) -> str:
        """Return the characters that `raw` completed."""
        if self._is_closed:
            return ""
        raw = self._pending + raw
        self._pending = ""
        out: list[str] = []
        at = 0
        while (special := _SPECIAL.search(raw, at)) is not None:
            out.append(raw[at : special.start()])
            at = special.start()
            if raw[at] == '"':
                self._is_closed = True
                return "".join(out)
            character, length = _read_escape(raw, at)
            if not length:
                self._pending = raw[at:]
                return "".join(out)
            out.append(character)
            at += length
        out.append(raw[at:])
        return "".join(out)


def _read_escape(raw: str, at: int) -> tuple[str, int]:
    """Return the character of the escape at `at` and its length; length 0 when it has not arrived whole."""
    kind = raw[at + 1 : at + 2]
    if kind != "u":
        return _ESCAPES.get(kind, kind), 2 if kind else 0
    unit = _read_unit(raw, at)
    if unit is None:
        return "", 0
    if not 0xD800 <= unit < 0xDC00:
        return ("\ufffd" if 0xDC00 <= unit < 0xE000 else chr(unit)), 6
    # The first half of a pair: the second must follow.
    rest = raw[at + 6 : at + 8]
    if rest != "\\u"[: len(rest)]:
        return "\ufffd", 6
    low = _read_unit(raw, at + 6)
    if low is None:
        return "", 0
    if 0xDC00 <= low < 0xE000:
        return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), 12
    return "\ufffd", 6


def _read_unit(raw: str, at: int) -> int | None:
    digits = raw[at + 2 : at + 6]
    if len(digits) < 4:
        return None
    try:
        return int(digits, 16)
    except ValueError:
        return 0xFFFD

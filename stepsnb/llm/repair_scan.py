"""Mends the text of a JSON object with as few edits as make it one: what is right in it stays byte for byte.

Only what has one reading is mended; everything else is None. In particular no quote is ever guessed: a string ends
at its first quote without a backslash, and what follows has to fit.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

MAX_DEPTH = 200
"""Levels of nesting that are mended; what is deeper is no tool call."""

_BLANK = re.compile(r"[ \t\r\n]*")
_SPECIAL = re.compile(r'["\\\x00-\x1f]')
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=[ \t\r\n,}\]]|\Z)")
_CUT_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)(?:\.|[eE][+-]?)\Z|-\Z")
_WORD = re.compile(r"[A-Za-z]+(?=[ \t\r\n,}\]]|\Z)")
_BARE_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(?=[ \t\r\n]*:)")
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_CONTROL = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Mended(NamedTuple):
    """A mended object, where it ended in the text, and whether the text ended before it did."""

    text: str
    end: int
    is_cut: bool


class String(NamedTuple):
    """A mended string with its quotes, where it ended, and whether its closing quote was there."""

    text: str
    end: int
    is_closed: bool


def mend_string(text: str, at: int) -> String:
    """Mend the string that begins at `at`.

    Raw control characters become escapes, a backslash that begins no escape becomes a backslash, half a character
    becomes U+FFFD, and a string that the text ends in is closed there, without an escape that is cut as well.
    """
    out, at = ['"'], at + 1
    while (special := _SPECIAL.search(text, at)) is not None:
        out.append(text[at : special.start()])
        at = special.start()
        character = text[at]
        if character == '"':
            out.append('"')
            return String("".join(out), at + 1, is_closed=True)
        if character != "\\":
            out.append(_CONTROL.get(character) or f"\\u{ord(character):04x}")
            at += 1
            continue
        escape = _PAIR.match(text, at) or _ESCAPE.match(text, at)
        if escape is not None:
            is_half = len(escape[0]) == 6 and _SURROGATE.match(escape[0]) is not None
            out.append("\\ufffd" if is_half else escape[0])
            at = escape.end()
        elif _CUT_ESCAPE.match(text, at):
            at = len(text)
        else:
            out.append("\\\\")
            at += 1
    out.extend((text[at:], '"'))
    return String("".join(out), len(text), is_closed=False)


class _Want(Enum):
    """What may come next."""

    FIRST_KEY = auto()
    KEY = auto()
    COLON = auto()
    VALUE = auto()
    FIRST_ITEM = auto()
    ITEM = auto()
    NEXT = auto()


class _Broken(Exception):
    """The text has no reading that is certain."""


def mend_from(text: str, at: int) -> Mended | None:
    """Mend the object that begins with the brace at `at`; None when that takes guessing.

    Apart from what is mended in strings: trailing commas go, missing closers come, a key without a value gets null,
    a key without quotes gets them, and Python's `True`, `False` and `None` are JSON's.
    """
    try:
        return _Mender(text).run(at)
    except _Broken:
        return None


class _Mender:
    """Walks over the text once; `_open` holds the closers that are still to come."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        self._open: list[str] = []
        self._comma = 0  # where in `_out` the latest comma is
        self._want = _Want.VALUE
        self._is_cut = False

    def run(self, at: int) -> Mended:
        at = self._take(at)
        while self._open:
            blank = _BLANK.match(self._text, at)
            assert blank is not None
            self._out.append(blank[0])
            at = blank.end()
            if at >= len(self._text):
                self._is_cut = True
                self._close_all()
            else:
                at = self._take(at)
        return Mended("".join(self._out), at, self._is_cut)

    def _take(self, at: int) -> int:
        """Take one token and return where the next begins."""
        character = self._text[at]
        if character in "}]":
            self._close(character)
            return at + 1
        match self._want:
            case _Want.FIRST_KEY | _Want.KEY:
                return self._take_key(at)
            case _Want.COLON if character == ":":
                self._out.append(":")
                self._want = _Want.VALUE
                return at + 1
            case _Want.NEXT if character == ",":
                self._take_comma()
                return at + 1
            case _Want.VALUE if character == "," and self._open:
                self._out.append("null")
                self._take_comma()
                return at + 1
            case _Want.VALUE | _Want.ITEM | _Want.FIRST_ITEM:
                return self._take_value(at)
        raise _Broken

    def _take_key(self, at: int) -> int:
        bare = _BARE_KEY.match(self._text, at)
        if bare is not None:
            self._out.append(f'"{bare[0]}"')
            self._want = _Want.COLON
            return bare.end()
        if self._text[at] != '"':
            raise _Broken
        key = mend_string(self._text, at)
        if key.is_closed or key.text != '""':  # not one that is cut off before its first letter
            self._out.append(key.text)
            self._want = _Want.COLON
        return key.end

    def _take_comma(self) -> None:
        self._comma = len(self._out)
        self._out.append(",")
        self._want = _Want.KEY if self._open[-1] == "}" else _Want.ITEM

    def _take_value(self, at: int) -> int:
        text, character = self._text, self._text[at]
        if character in "{[":
            if len(self._open) >= MAX_DEPTH:
                raise _Broken
            self._out.append(character)
            self._open.append("}" if character == "{" else "]")
            self._want = _Want.FIRST_KEY if character == "{" else _Want.FIRST_ITEM
            return at + 1
        self._want = _Want.NEXT
        if character == '"':
            string = mend_string(text, at)
            if not string.is_closed:
                self._check_cut(at)
            self._out.append(string.text)
            return string.end
        number = _NUMBER.match(text, at)
        if number is not None:
            self._out.append(number[0])
            return number.end()
        return self._take_word(at)

    def _check_cut(self, at: int) -> None:
        """Refuse a string without an end that seems to hold the closers: was its quote forgotten, or the rest cut?"""
        tail = "".join(self._text[at:][-4 * MAX_DEPTH :].split())
        if tail.endswith("".join(reversed(self._open))):
            raise _Broken

    def _take_word(self, at: int) -> int:
        word = _WORD.match(self._text, at)
        if word is not None and word[0] in _WORDS:
            self._out.append(_WORDS[word[0]])
            return word.end()
        if word is not None and word.end() == len(self._text):
            whole = next((known for known in _WORDS if known.startswith(word[0])), None)
            if whole is not None:
                self._out.append(_WORDS[whole])
                return word.end()
        cut = _CUT_NUMBER.match(self._text, at)
        if cut is None:
            raise _Broken
        self._out.append(cut[1] or "null")
        return cut.end()

    def _close(self, closer: str) -> None:
        if closer not in self._open:
            raise _Broken
        self._finish_member()
        while True:
            top = self._open.pop()
            self._out.append(top)
            if top == closer:
                break
        self._want = _Want.NEXT

    def _close_all(self) -> None:
        if self._want is _Want.COLON:
            self._out.append(":")
            self._want = _Want.VALUE
        self._finish_member()
        self._out.extend(reversed(self._open))
        self._open.clear()

    def _finish_member(self) -> None:
        """Complete what stands before a closer: a value that is missing comes, a comma that is one too many goes."""
        match self._want:
            case _Want.COLON:  # a string where a key belongs: a value whose key is missing, or half of another string
                raise _Broken
            case _Want.VALUE:
                self._out.append("null")
            case _Want.KEY | _Want.ITEM:
                self._out[self._comma] = ""

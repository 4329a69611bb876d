"""Turns bytes into text without losing any: which encoding they are in, or that they are not text."""

import codecs
from dataclasses import dataclass

_BOMS = (  # UTF-32 first: its little-endian mark begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_TEXT = bytes(set(range(0x20)) - set(b"\t\n\r\f\b\x1b"))
"""Control bytes that text in a one-byte encoding does not hold."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text file's content; `bom + text.encode(encoding)` gives its bytes back."""

    text: str
    encoding: str
    bom: bytes = b""


def decode_text(raw: bytes) -> DecodedText | None:
    """Decode a file's bytes; None when they are not text.

    A byte order mark decides first, then UTF-8. What is neither is read as Windows-1252 (Latin-1 where that has a
    hole), unless it holds NUL or other control bytes.
    """
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            try:
                return DecodedText(raw[len(bom) :].decode(encoding), encoding, bom)
            except UnicodeDecodeError:
                break
    if b"\0" in raw:
        return None
    try:
        return DecodedText(raw.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    if len(raw.translate(None, _NOT_TEXT)) < len(raw):
        return None
    try:
        return DecodedText(raw.decode("cp1252"), "cp1252")
    except UnicodeDecodeError:
        return DecodedText(raw.decode("latin-1"), "latin-1")


def decode_output(raw: bytes) -> str:
    r"""Decode what a program printed; bytes that are no text at all come out as `\xNN`.

    An end cut in the middle of a character, by a bound or a signal, does not make the rest another encoding.
    """
    whole = trim_partial(raw)
    try:
        return whole.decode("utf-8")
    except UnicodeDecodeError:
        decoded = decode_text(raw)
    return raw.decode("utf-8", "backslashreplace") if decoded is None else decoded.text


def trim_partial(raw: bytes) -> bytes:
    """Drop the beginning of an unfinished UTF-8 character from the end of `raw`."""
    for back in range(1, min(3, len(raw)) + 1):
        byte = raw[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return raw[:-back] if back < length else raw
        if byte < 0x80:
            break
    return raw

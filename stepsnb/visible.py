"""Foreign text made safe to look at: what would steer a terminal or reorder a line is shown, not obeyed."""

import re

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LINE_END = re.compile("\r\n?")


def visible(text: str) -> str:
    """Return `text` with line ends as `\\n` and every other control character as a sign that can be read.

    C0 characters become their control pictures (ESC is `␛`), C1 characters and the bidirectional overrides and
    isolates an escape such as `\\u202e`, lone surrogates the replacement character. Tabs and line feeds stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_sign, _LINE_END.sub("\n", text))


def clip(text: str, limit: int) -> tuple[str, int]:
    """Return at most `limit` characters of `text`, and how many were left out."""
    return (text, 0) if len(text) <= limit else (text[:limit], len(text) - limit)


def one_line(text: str, limit: int) -> str:
    """Return `text` on one line of at most `limit` characters, with an ellipsis where it was cut."""
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def _sign(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

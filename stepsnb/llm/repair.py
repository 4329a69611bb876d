"""Repairs the arguments of tool calls: what is valid stays byte for byte, what takes guessing stays as it came.

First as strict JSON, then mended (`repair_scan`), then as a Python literal. Nothing is invented: arguments are empty
only where the model wrote nothing, or an empty object.
"""

import ast
import json
import re
import warnings
from typing import NamedTuple

import msgspec

from .repair_scan import mend_from, mend_string

PYTHON_LITERAL_CHARACTERS = 64_000
"""Of a Python literal that is read; the compiler behind it is not made for more."""

MAX_ENCODINGS = 3
"""How often arguments may have been encoded as a string once more."""

_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_FENCE_BEFORE = re.compile(r"(?:```|~~~)[\w+-]*\s*\Z")
_FENCE_AFTER = re.compile(r"\s*(?:```|~~~)[ \t]*(?=\r?\n|\Z)")
_LAST_FENCE = re.compile(r"\r?\n[ \t]*(?:```|~~~)[ \t]*(?:\r?\n[^{}]*)?\Z")
_CLOSERS = re.compile(r"[\s}\]]*\Z")


class Arguments(NamedTuple):
    """The text of a JSON object, and whether that took a repair."""

    text: str
    is_repaired: bool


def is_object(text: str) -> bool:
    """Whether a text is valid JSON, strictly, and an object."""
    try:
        _decode_object(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def repair_arguments(text: str) -> Arguments | None:
    """Return the object that the arguments of a call are meant to be; None when nothing safe can be said.

    Nothing at all, blanks and `null` mean no arguments, which is no repair. A string that holds an object is
    decoded. Valid JSON of another kind is left to the tool, which refuses it.
    """
    inner: str | None = text
    for depth in range(MAX_ENCODINGS):
        if inner is None:
            return None
        if is_object(inner):
            return Arguments(inner, is_repaired=depth > 0)
        if inner.strip() in ("", "null"):
            return Arguments("{}", is_repaired=False)
        if inner.lstrip()[:1] != '"':
            mended = None if _is_json(inner) else repair_object(inner)
            return None if mended is None else Arguments(mended, is_repaired=True)
        inner = _decode_string(inner.strip())
    return None


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _decode_string(text: str) -> str | None:
    """Decode a text that is one JSON string; one that was cut off is closed when an object has begun in it."""
    string = mend_string(text, 0)
    if string.end != len(text):
        return None
    try:
        decoded = msgspec.json.decode(string.text, type=str)
    except (msgspec.DecodeError, UnicodeError):
        return None
    return decoded if string.is_closed or decoded.lstrip()[:1] == "{" else None


def repair_object(text: str) -> str | None:
    """Return the one JSON object in a text that is not valid JSON, mended; None without one, or with doubt about it.

    A fence and prose may stand around it. An empty one among prose is more likely to be part of the prose.
    """
    start = text.find("{")
    if start < 0:
        return None
    is_fenced = _FENCE_BEFORE.search(text, 0, start) is not None
    found = _mend(text, start, is_fenced=is_fenced) or _read_python(text, start)
    if found is None or not is_object(found.text):
        return None
    before, after = text[:start].strip(), text[found.end :].strip()
    if not _is_prose_before(before, is_fenced=is_fenced) or not _is_prose_after(after):
        return None
    if not _decode_object(found.text):
        is_alone = (not before or (is_fenced and before.startswith(("```", "~~~")))) and after in ("", "```", "~~~")
        return found.text if is_alone and not found.is_cut else None
    return found.text


class _Found(NamedTuple):
    text: str
    end: int
    is_cut: bool


def _mend(text: str, start: int, *, is_fenced: bool) -> _Found | None:
    """Mend the object at `start`. One that ends in a fence without its closers was cut before the fence."""
    mended = mend_from(text, start)
    if is_fenced and (mended is None or mended.is_cut):
        fence = _LAST_FENCE.search(text, start)
        inside = None if fence is None else mend_from(text[: fence.start()], start)
        if inside is not None:
            return _Found(*inside)
    return None if mended is None else _Found(*mended)


def _read_python(text: str, start: int) -> _Found | None:
    end = text.rfind("}") + 1
    if not 0 < end - start <= PYTHON_LITERAL_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash that begins no escape stands for itself
            value = ast.literal_eval(text[start:end])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if not isinstance(value, dict) or not _is_plain(value):
        return None
    try:
        return _Found(json.dumps(value, ensure_ascii=False, allow_nan=False), end, is_cut=False)
    except (ValueError, RecursionError):
        return None


def _is_plain(value: object) -> bool:
    """Whether a value has a counterpart in JSON (a tuple is an array)."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _is_prose_before(before: str, *, is_fenced: bool) -> bool:
    """Whether what stands before an object is not part of the data."""
    return is_fenced or before[-1:] not in ("[", '"', "'", "\\", ",", "}", "]")


def _is_prose_after(after: str) -> bool:
    """Whether what stands behind an object is not part of the data: closers too many, a fence, or words."""
    if _CLOSERS.match(after) is not None:
        return True
    fence = _FENCE_AFTER.match(after)
    words = after[fence.end() :] if fence is not None else after
    return "{" not in words and words.lstrip()[:1] not in (",", ":", '"', "'", "[", "]", "}", "\\")

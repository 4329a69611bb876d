"""The forms in which models write a tool call into their text when their server does not make one of it.

Sources: the chat templates of Hermes 2 Pro and Qwen (`<tool_call>`), Mistral Instruct 0.3 (`[TOOL_CALLS]`), Llama 3.1
(`<|python_tag|>`, `<function=NAME>`) and Qwen3-Coder (`<function=NAME><parameter=NAME>`).
"""

import json
import re
from typing import Any, NamedTuple

import msgspec

from .repair import is_object, repair_object

MARKERS = r"<tool_call>|\[TOOL_CALLS\]|<function=|<\|python_tag\|>"
"""What a written call begins with, as a pattern."""

_FUNCTION = re.compile(r"<function=([^<>\s]{1,128})>\s*")
_PARAMETER = re.compile(r"<parameter=([^<>\s]{1,128})>")
_BLANK = re.compile(r"\s*")
_MORE = re.compile(r"\s*;\s*(?=\{)")
_END_OF_TURN = re.compile(r"\s*(?:<\|eom_id\|>|<\|eot_id\|>)?")
_scan = json.JSONDecoder().raw_decode


class Written(NamedTuple):
    """One call as it stands in a text.

    `arguments` is JSON text, or the texts of parameters that are yet to be read by the tool's schema. `source` is
    what tells this call from others: the text of it. `is_mended`: its JSON was broken.
    """

    name: str
    arguments: str | dict[str, str]
    source: str
    is_mended: bool = False


class Form(NamedTuple):
    """The calls of one piece of markup, and where it ends."""

    calls: tuple[Written, ...]
    end: int


class _Call(msgspec.Struct):
    name: str
    arguments: msgspec.Raw = msgspec.Raw()  # a union with None would leave no room for anything but null
    parameters: msgspec.Raw = msgspec.Raw()


class _BareCall(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: msgspec.Raw = msgspec.Raw()
    parameters: msgspec.Raw = msgspec.Raw()
    type: Any = None
    id: Any = None


def read_form(text: str, at: int, marker: str) -> Form | None:
    """Read the markup that begins with `marker` at `at`; None when it is not whole."""
    start = at + len(marker)
    match marker:
        case "<tool_call>":
            return _read_tagged(text, start)
        case "[TOOL_CALLS]":
            return _read_list(text, start)
        case "<function=":
            return _read_function(text, at)
    return _read_objects(text, start)


def read_bare(text: str) -> Written | None:
    """Read a text that is one JSON object with a name and an object of arguments, and nothing else."""
    source = text.strip()
    if source[:1] != "{" or source[-1:] != "}":
        return None
    try:
        call = msgspec.json.decode(source, type=_BareCall)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    given = [raw for raw in (bytes(call.arguments), bytes(call.parameters)) if raw]
    if len(given) != 1:
        return None
    arguments = given[0].decode()
    return Written(call.name, arguments, source) if is_object(arguments) else None


def _to_written(call: _Call, source: str, *, is_mended: bool = False) -> Written:
    arguments = bytes(call.arguments) or bytes(call.parameters) or b"{}"
    return Written(call.name, arguments.decode(), source, is_mended)


def _skip_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return at if blank is None else blank.end()


def _read_json(text: str, at: int) -> tuple[str, int] | None:
    """Return the whole JSON value at `at` as text, and its end."""
    try:
        end = _scan(text, at)[1]
    except (ValueError, RecursionError):
        return None
    return text[at:end], end


def _read_call(text: str, at: int) -> tuple[Written, int] | None:
    found = _read_json(text, at) if text[at : at + 1] == "{" else None
    if found is None:
        return None
    try:
        return _to_written(msgspec.json.decode(found[0], type=_Call), found[0]), found[1]
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _read_tagged(text: str, at: int) -> Form | None:
    start = _skip_blank(text, at)
    if text.startswith("<function=", start):
        function = _read_function(text, start)
        return None if function is None else Form(function.calls, _skip_tag(text, function.end, "</tool_call>"))
    calls: list[Written] = []
    end = start
    while (read := _read_call(text, end)) is not None:
        calls.append(read[0])
        end = _skip_blank(text, read[1])
    if calls and (end == len(text) or text.startswith("</tool_call>", end)):
        return Form(tuple(calls), min(end + len("</tool_call>"), len(text)))
    return _read_broken(text, start)


def _read_broken(text: str, start: int) -> Form | None:
    """Read a tagged object that is not quite JSON; its closing tag has to be there."""
    close = text.find("</tool_call>", start)
    source = text[start:close].strip()
    if close < 0 or source[:1] != "{":
        return None
    mended = repair_object(source)
    if mended is None:
        return None
    try:
        call = msgspec.json.decode(mended, type=_Call)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return Form((_to_written(call, source, is_mended=True),), close + len("</tool_call>"))


def _read_list(text: str, at: int) -> Form | None:
    start = _skip_blank(text, at)
    found = _read_json(text, start)
    if found is None:
        return None
    source, end = found
    try:
        calls = msgspec.json.decode(source if source[:1] == "[" else f"[{source}]", type=list[_Call])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return Form(tuple(_to_written(call, source) for call in calls), end) if calls else None


def _read_objects(text: str, at: int) -> Form | None:
    calls: list[Written] = []
    end = _skip_blank(text, at)
    while (read := _read_call(text, end)) is not None:
        calls.append(read[0])
        more = _MORE.match(text, read[1])
        if more is None:
            closing = _END_OF_TURN.match(text, read[1])
            return Form(tuple(calls), read[1] if closing is None else closing.end())
        end = more.end()
    return None


def _read_function(text: str, at: int) -> Form | None:
    opening = _FUNCTION.match(text, at)
    if opening is None:
        return None
    start = opening.end()
    arguments: str | dict[str, str]
    if text[start : start + 1] == "{":
        found = _read_json(text, start)
        if found is None:
            return None
        arguments, end = found
    else:
        parameters = _read_parameters(text, start)
        if parameters is None:
            return None
        arguments, end = parameters
    closed = _skip_tag(text, end, "</function>")
    if closed == end and text[end:].strip():
        return None
    return Form((Written(opening[1], arguments, text[at:closed].strip()),), closed)


def _read_parameters(text: str, at: int) -> tuple[dict[str, str], int] | None:
    """Read `<parameter=NAME>` blocks up to the end of the function; one line break at each end is not part of them."""
    values: dict[str, str] = {}
    while (opening := _PARAMETER.match(text, at)) is not None:
        close = text.find("</parameter>", opening.end())
        if close < 0 or opening[1] in values:
            return None
        values[opening[1]] = text[opening.end() : close].removeprefix("\n").removesuffix("\n")
        at = _skip_blank(text, close + len("</parameter>"))
    return (values, at) if text.startswith("</function>", at) else None


def _skip_tag(text: str, at: int, tag: str) -> int:
    """Return the place behind a closing tag; `at` itself when it is not there."""
    start = _skip_blank(text, at)
    return start + len(tag) if text.startswith(tag, start) else at

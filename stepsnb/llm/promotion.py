"""Takes calls that a model wrote into its text for calls, and only those that are surely meant.

The tool has to be offered for this request; what stands in code or in the model's thinking is talk about a call; and
a call that stands in the history already, in a tool's result above all, is a quotation: otherwise a file that an
agent reads could make calls.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..messages import Message, ToolCall
from .assembly import new_call_id
from .promotion_forms import MARKERS, Form, Written, read_bare, read_form
from .repair import repair_arguments
from .repair_schema import allowed_kinds
from .request import Choice, ToolSpec

MAX_UNREADABLE = 16
"""Pieces of markup that were no calls, after which the rest of a text is left alone."""

INLINE_CODE_TICKS = 32
"""A longer run of backticks delimits no code in a line."""

_MARKER = re.compile(MARKERS)
_STOP = re.compile(
    rf"(?P<marker>{MARKERS})|(?P<think><think>)|^ {{0,3}}(?P<fence>```+(?=[^`\n]*$)|~~~+)|`+", re.MULTILINE
)
_NOISE = re.compile(r"[\s\\]+")


def offered_tools(tools: Mapping[str, ToolSpec], choice: Choice) -> Mapping[str, ToolSpec]:
    """Return the tools that a reply may call."""
    if not choice.may_call:
        return {}
    return tools if choice.tools is None else {name: tools[name] for name in choice.tools if name in tools}


def promote_calls(
    text: str, offered: Mapping[str, ToolSpec], history: Sequence[Message]
) -> tuple[str | None, tuple[ToolCall, ...]]:
    """Return the text without the calls in it, None when nothing else was there, and the calls.

    The text is as it was when there are none.
    """
    if not offered:
        return text, ()
    promotion = _Promotion(offered, history)
    bare = read_bare(text)
    if bare is not None:
        call = promotion.accept(bare)
        return (text, ()) if call is None else (None, (call,))
    if _MARKER.search(text) is None:
        return text, ()
    rest = promotion.take_from(text)
    return (rest.strip() or None, tuple(promotion.calls)) if promotion.calls else (text, ())


def _is_set_apart(text: str, start: int) -> bool:
    """Whether Markdown sets the line apart as a quotation (`> `) or as code (four blanks)."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before.lstrip().startswith(">") or (not before.strip() and len(before.expandtabs(4)) >= 4)


class _Promotion:
    """Collects the calls of one text."""

    def __init__(self, offered: Mapping[str, ToolSpec], history: Sequence[Message]) -> None:
        self.calls: list[ToolCall] = []
        self._offered = offered
        self._history = history
        self._quotable: str | None = None

    def take_from(self, text: str) -> str:
        """Collect the calls outside of code and thinking, and return the text without them."""
        kept: list[str] = []
        kept_to = at = unreadable = 0
        while unreadable < MAX_UNREADABLE and (stop := _STOP.search(text, at)) is not None:
            if stop["marker"] is None:
                at = _skip_code(text, stop)
                continue
            if _is_set_apart(text, stop.start()):
                at = stop.end()
                continue
            form = read_form(text, stop.start(), stop["marker"])
            if form is None:
                unreadable += 1
                at = stop.end()
                continue
            at = form.end  # also of what is not promoted: markup inside its arguments is no call either
            if self._accept_all(form):
                kept.append(text[kept_to : stop.start()].rstrip())
                kept_to = at
        kept.append(text[kept_to:].lstrip() if kept else text[kept_to:])
        return "\n".join(filter(None, kept))

    def _accept_all(self, form: Form) -> bool:
        calls = [self.accept(written) for written in form.calls]
        if None in calls:
            return False
        self.calls.extend(call for call in calls if call is not None)
        return True

    def accept(self, written: Written) -> ToolCall | None:
        """Return the call; None when its tool is not offered, its arguments are unreadable or it is a quotation."""
        tool = self._offered.get(written.name)
        if tool is None or self._is_quoted(written.source):
            return None
        if isinstance(written.arguments, dict):
            text = msgspec.json.encode(_read_parameters(written.arguments, tool)).decode()
            return ToolCall(id=new_call_id(), name=tool.name, arguments=text, promoted=True)
        arguments = repair_arguments(written.arguments)
        if arguments is None:
            return None
        is_repaired = arguments.is_repaired or written.is_mended
        return ToolCall(
            id=new_call_id(),
            name=tool.name,
            arguments=arguments.text,
            repaired=is_repaired,
            promoted=True,
            raw=written.source if is_repaired else None,
        )

    def _is_quoted(self, source: str) -> bool:
        """Whether a call stands in what the model was given, however its blanks and backslashes were changed."""
        if self._quotable is None:
            given = (message.content or "" for message in self._history if message.role != "assistant")
            self._quotable = _NOISE.sub("", "\n".join(given))
        return _NOISE.sub("", source) in self._quotable


def _read_parameters(values: Mapping[str, str], tool: ToolSpec) -> dict[str, Any]:
    """Read the texts of parameters by a tool's schema: what may be a string is one."""
    properties = tool.parameters.get("properties", {})
    return {
        name: _read_value(value, allowed_kinds(properties.get(name), tool.parameters)) for name, value in values.items()
    }


def _read_value(value: str, kinds: frozenset[str]) -> Any:
    if kinds & {"string", "any"}:
        return value
    try:
        return msgspec.json.decode(value.strip())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {"True": True, "False": False, "None": None}.get(value.strip(), value)


def _skip_code(text: str, stop: re.Match[str]) -> int:
    """Return where the code, or the thinking, that begins at `stop` ends."""
    if stop["think"] is not None:
        end = text.find("</think>", stop.end())
        return len(text) if end < 0 else end
    fence = stop["fence"]
    if fence is not None:
        closing = re.compile(rf"^ {{0,3}}{fence}{fence[0]}*[ \t]*$", re.MULTILINE).search(text, stop.end())
        return len(text) if closing is None else closing.end()
    ticks = stop.end() - stop.start()
    if ticks > INLINE_CODE_TICKS:
        return stop.end()
    # Code in a line ends with its paragraph at the latest.
    closing = re.compile(rf"(?P<end>(?<!`)`{{{ticks}}}(?!`))|\n[ \t]*\r?\n").search(text, stop.end())
    return stop.end() if closing is None or closing["end"] is None else closing.end()

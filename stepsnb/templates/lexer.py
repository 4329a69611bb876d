"""Cuts a template into text and the tokens of its actions, `{{ … }}`."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .problem import TemplateProblem

Kind = Literal["field", "dot", "root", "name", "string", "number", "pipe", "open", "close"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
  | (?P<number>-?\d+(?:\.\d+)?(?![\w.]))
  | (?P<field>(?:\.[^\W\d]\w*)+)
  | (?P<dot>\.)
  | (?P<root>\$(?!\w))
  | (?P<name>[^\W\d]\w*)
  | (?P<pipe>\|)
  | (?P<open>\()
  | (?P<close>\))
    """,
    re.VERBOSE,
)
_OPEN = re.compile(r"\{\{(?:-(?=\s))?")
_CLOSE = re.compile(r"(?:(?<=\s)-)?\}\}")
_COMMENT = re.compile(r"\s*/\*.*?\*/\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """One word of an action; a string's or number's `value` is what it stands for, any other's how it is written."""

    kind: Kind
    value: str | int | float
    offset: int


@dataclass(frozen=True, slots=True)
class Action:
    """The tokens between `{{` and `}}`."""

    tokens: tuple[Token, ...]
    offset: int


def scan(text: str) -> Iterator[str | Action]:
    """Yield the pieces of a template in order: text as it is, and actions.

    `{{-` takes the white space before it away, `-}}` that behind it; a comment, `{{/* … */}}`, is nothing.

    Raises: TemplateProblem.
    """
    position, strips = 0, False
    while (opening := _OPEN.search(text, position)) is not None:
        piece = text[position : opening.start()]
        piece = piece.lstrip() if strips else piece
        yield piece.rstrip() if opening[0].endswith("-") else piece
        tokens, closing = _scan_action(text, opening.end(), opening.start())
        if tokens is not None:
            yield Action(tokens, opening.start())
        position, strips = closing.end(), closing[0].startswith("-")
    yield text[position:].lstrip() if strips else text[position:]


def _scan_action(text: str, position: int, start: int) -> tuple[tuple[Token, ...] | None, re.Match[str]]:
    """Return the tokens up to the `}}`, None for a comment, and the match of that."""
    if (comment := _COMMENT.match(text, position)) is not None and (closing := _CLOSE.match(text, comment.end())):
        return None, closing
    tokens: list[Token] = []
    while (closing := _CLOSE.match(text, position)) is None:
        found = _TOKEN.match(text, position)
        if found is None:
            raise _unexpected(text, position, start)
        kind = found.lastgroup
        if kind != "space":
            tokens.append(Token(kind, _value(found, text), position))  # type: ignore[arg-type]  # a group's name
        position = found.end()
    return tuple(tokens), closing


def _unexpected(text: str, position: int, start: int) -> TemplateProblem:
    if position >= len(text):
        return TemplateProblem('this `{{` has no `}}`; to write it as text, use `{{ "{{" }}`', text, start)
    if text[position] in '"`':
        return TemplateProblem("a string is not closed", text, position)
    return TemplateProblem(
        f'`{text[position]}` means nothing inside `{{{{ }}}}`; to write `{{{{` as text, use `{{{{ "{{{{" }}}}`',
        text,
        position,
    )


def _value(found: re.Match[str], text: str) -> str | int | float:
    written = found[0]
    match found.lastgroup:
        case "number":
            return float(written) if "." in written else int(written)
        case "string" if written[0] == "`":
            return written[1:-1]
        case "string":
            try:
                return str(json.loads(written, strict=False))
            except ValueError as exc:
                words = 'a string has an escape that is none; use `\\n`, `\\t`, `\\\\`, `\\"` or `\\uNNNN`'
                raise TemplateProblem(words, text, found.start()) from exc
    return written

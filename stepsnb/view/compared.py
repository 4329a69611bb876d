"""Two runs side by side, as HTML without styles and as text. What they said is text, whatever it looks like."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import NamedTuple, TypeAlias

from ..visible import clip, one_line, visible

_CELL_CHARACTERS = 4_000
_LINE_CHARACTERS = 100
_WORDS = 2_000
"""Longer texts are not compared word by word, which takes time that grows with the square."""

Value: TypeAlias = "str | float | None"


class Row(NamedTuple):
    """One line of the comparison."""

    step: str
    what: str
    a: Value
    b: Value


def compared_html(a: str, b: str, rows: Sequence[Row]) -> str:
    """Return a table for each step with what differs in it; `a` and `b` name the runs."""
    parts = [f"<h4>{escape(visible(a))} and {escape(visible(b))}</h4>"]
    for step, own in _by_step(rows):
        differing = [row for row in own if row.a != row.b]
        same = len(own) - len(differing)
        if not differing:
            parts.append(f"<p>{escape(visible(step))}: the same</p>")
            continue
        lines = "".join(_html_row(row) for row in differing)
        head = f"<tr><th></th><th>{escape(visible(a))}</th><th>{escape(visible(b))}</th></tr>"
        is_same = f" ({same} the same)" if same else ""
        summary = f"<summary>{escape(visible(step))}{is_same}</summary>"
        parts.append(f"<details open>{summary}<table>{head}{lines}</table></details>")
    return f"<div>{''.join(parts)}</div>"


def compared_text(a: str, b: str, rows: Sequence[Row]) -> str:
    """Return the same as plain text: `-` for the first run, `+` for the second."""
    lines = [f"- {visible(a)}", f"+ {visible(b)}"]
    for step, own in _by_step(rows):
        differing = [row for row in own if row.a != row.b]
        lines += ["", f"{visible(step)}{'' if differing else ': the same'}"]
        for row in differing:
            lines.append(f"  {row.what}{_change(row)}")
            lines += [f"  {sign} {line}" for sign, value in (("-", row.a), ("+", row.b)) for line in _lines(value)]
    return "\n".join(lines)


def _by_step(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for step in dict.fromkeys(row.step for row in rows):
        yield step or "the whole run", [row for row in rows if row.step == step]


def _html_row(row: Row) -> str:
    left, right = _marked(row.a, row.b)
    return f"<tr><th>{escape(row.what + _change(row))}</th><td><pre>{left}</pre></td><td><pre>{right}</pre></td></tr>"


def _change(row: Row) -> str:
    if isinstance(row.a, str) or isinstance(row.b, str) or row.a is None or row.b is None:
        return ""
    return f" ({row.b - row.a:+,.6g})"


def _shown(value: Value) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return f"{value:,.6g}"
    text, left_out = clip(visible(value), _CELL_CHARACTERS)
    return text + (f"\n… {left_out:,} characters more" if left_out else "")


def _marked(a: Value, b: Value) -> tuple[str, str]:
    """Escape two values; of two texts, the words that only one has are marked."""
    left, right = _shown(a), _shown(b)
    if not isinstance(a, str) or not isinstance(b, str):
        return escape(left), escape(right)
    words, others = _split(left), _split(right)
    if len(words) > _WORDS or len(others) > _WORDS:
        return escape(left), escape(right)
    marked: tuple[list[str], list[str]] = ([], [])
    for kind, a1, a2, b1, b2 in SequenceMatcher(a=words, b=others, autojunk=False).get_opcodes():
        for out, part, tag in ((marked[0], words[a1:a2], "del"), (marked[1], others[b1:b2], "ins")):
            text = escape("".join(part))
            out.append(text if kind == "equal" or not text else f"<{tag}>{text}</{tag}>")
    return "".join(marked[0]), "".join(marked[1])


def _split(text: str) -> list[str]:
    words: list[str] = []
    is_space: Callable[[str], bool] = str.isspace
    for character in text:
        if words and is_space(character) == is_space(words[-1][-1]):
            words[-1] += character
        else:
            words.append(character)
    return words


def _lines(value: Value) -> list[str]:
    return [one_line(line, _LINE_CHARACTERS) for line in _shown(value).splitlines()]

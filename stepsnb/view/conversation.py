"""The stored transcript of a run as people read it: the rows of the table `transcript`, as text and as HTML."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from ..settings import STATIC_RESULT_BYTES, STATIC_TEXT_CHARACTERS
from ..visible import clip, one_line, visible
from .markdown import escape_text
from .outline import cut_words
from .words import count_words

Row = Mapping[str, Any]

_INDENT = "    "
_LINE_CHARACTERS = 100
_NAME_CHARACTERS = 200
_DEEPEST = 8
_LIMITS = ((4_096, 2_000), (1_000, 500), (300, 200), (100, 60), (0, 20))
"""Characters of one text, and rows: tried in this order until the result fits."""


class _Block(NamedTuple):
    """One row in words: who, what was said, and lines about it."""

    who: str
    text: str
    about: list[str]


def conversation_text(rows: Sequence[Row], *, max_characters: int | None = None) -> str:
    """Return the transcript as plain text: steps in order, sub-agents indented at the call they answer."""
    if max_characters is None:
        return "\n".join(_text_lines(rows))
    text = ""
    for limit, count in _LIMITS:
        text = "\n".join(_text_lines(_shortened(rows, limit, count)))
        if len(text) <= max_characters:
            break
    return text[:max_characters]


def static_conversation_text(rows: Sequence[Row]) -> str:
    """Return it as a saved cell keeps it: texts are cut, then rows left out, until it fits."""
    return conversation_text(rows, max_characters=STATIC_TEXT_CHARACTERS)


def conversation_html(rows: Sequence[Row]) -> str:
    """Return it as HTML without style or script, under `STATIC_RESULT_BYTES`; everything said is text."""
    page = ""
    for limit, count in _LIMITS:
        page = "".join(_html_parts(_shortened(rows, limit, count)))
        if len(page.encode()) < STATIC_RESULT_BYTES:
            break
    return page


def _shortened(rows: Sequence[Row], limit: int, count: int) -> list[Row]:
    """Cut texts to `limit` characters and leave rows out from the middle until `count` are left."""
    head = count // 3
    left_out = len(rows) - count
    kept = rows if left_out <= 0 else [*rows[:head], _left_out(rows[head], left_out), *rows[len(rows) - count + head :]]
    return [_cut(row, limit) for row in kept]


def _left_out(beside: Row, count: int) -> Row:
    return {
        **beside,
        "role": "note",
        "text": f"… {count_words(count, 'row')} left out …",
        "tool_calls": None,
        "marks": [],
    }


def _cut(row: Row, limit: int) -> Row:
    if row["role"] == "note":
        return row
    calls = [
        {**call, "arguments": _clipped(str(call.get("arguments", "")), limit)} for call in _calls(row["tool_calls"])
    ]
    return {**row, "text": row["text"] and _clipped(row["text"], limit), "tool_calls": json.dumps(calls)}


def _clipped(text: str, limit: int) -> str:
    kept, cut = clip(text, limit)
    return f"{kept}\n{cut_words(cut)}" if cut else kept


def _text_lines(rows: Sequence[Row]) -> Iterable[str]:
    names = _names(rows)
    seen: set[str] = set()
    for row in rows:
        indent = _INDENT * min(row["depth"], _DEEPEST)
        if row["step_id"] not in seen:
            seen.add(row["step_id"])
            yield f"{indent}== {_heading(row, names)} =="
        block = _block(row)
        yield from (indent + line for line in f"[{block.who}] {block.text}".rstrip().split("\n"))
        yield from (indent + _INDENT + line for line in block.about)


def _html_parts(rows: Sequence[Row]) -> Iterable[str]:
    names = _names(rows)
    open_steps: list[str] = []
    for row in rows:
        if row["step_id"] not in open_steps:
            yield "</details>\n" * len(open_steps[row["depth"] :])
            del open_steps[row["depth"] :]
            open_steps.append(row["step_id"])
            yield f"<details open><summary><b>{escape_text(_heading(row, names))}</b></summary>\n"
        behind = open_steps.index(row["step_id"]) + 1
        yield "</details>\n" * len(open_steps[behind:])
        del open_steps[behind:]
        yield _html_block(row)
    yield "</details>\n" * len(open_steps)


def _html_block(row: Row) -> str:
    block = _block(row)
    if row["role"] == "note":
        return f"<p><i>{escape_text(block.text)}</i></p>\n"
    text = f"<pre>{_feed(block.text)}{escape(block.text, quote=False)}</pre>\n" if block.text else ""
    about = "".join(f"<p><code>{escape(line, quote=False)}</code></p>\n" for line in block.about)
    if row["role"] in ("tool", "system") or row["synthetic"]:
        line = escape_text(one_line(block.text, _LINE_CHARACTERS))
        return f"<details><summary>{escape_text(block.who)} {line}</summary>\n{text}{about}</details>\n"
    return f"<p><b>{escape_text(block.who)}</b></p>\n{text}{about}"


def _feed(text: str) -> str:
    return "\n" if text.startswith("\n") else ""  # HTML drops a line feed right after `<pre>`


def _names(rows: Sequence[Row]) -> dict[str, str]:
    return {row["step_id"]: one_line(row["step"] or row["step_id"] or "run", _NAME_CHARACTERS) for row in rows}


def _heading(row: Row, names: Mapping[str, str]) -> str:
    step, agent = names[row["step_id"]], one_line(row["agent"] or "", _NAME_CHARACTERS)
    who = f"{step} (agent {agent})" if agent and agent != step else step
    return f"{who}, asked by {names[row['parent_id']]}" if row["depth"] and row["parent_id"] in names else who


def _block(row: Row) -> _Block:
    role = f"tool {one_line(row['tool'] or '', _NAME_CHARACTERS)}" if row["role"] == "tool" else row["role"]
    facts = [role]
    if row["synthetic"]:
        facts.append("put in by stepsnb")
    if row["is_cut"]:
        facts.append("cut off")
    if row["ok"] is False:
        facts.append("failed")
    return _Block(", ".join(facts), visible(row["text"] or ""), list(_about(row)))


def _about(row: Row) -> Iterable[str]:
    for call in _calls(row["tool_calls"]):
        yield visible(f"calls {call.get('name', '')} {call.get('arguments', '')}").replace("\n", " ")
    mended = [name for name in ("repaired", "promoted") if row[name]]
    if marks := [*(row["marks"] or ()), *mended]:
        yield visible(f"marks: {', '.join(map(str, marks))}")
    missing = (row["text_bytes"] or 0) - len((row["text"] or "").encode("utf-8", "replace"))
    if row["role"] == "tool" and missing > 0:
        yield f"… {count_words(missing, 'more byte')}, in the table `tool_calls`"


def _calls(tool_calls: str | None) -> list[dict[str, Any]]:
    try:
        found = json.loads(tool_calls or "[]")
    except ValueError:
        return []
    return [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []

"""The plain twin of `render_html`: for terminals, `text/plain`, and readers who want no markup."""

from typing import Any

from ..settings import STATIC_TEXT_CHARACTERS
from ..visible import clip, one_line
from .outline import (
    LIMITS,
    Limits,
    answer_words,
    conversation_line,
    cut_words,
    headline,
    shown_items,
    shown_steps,
    step_line,
    steps_left_out,
    table_of_steps,
    title,
    verdict_words,
    what_went_wrong,
)

_INDENT = "  "
_LINE_CHARACTERS = 200


def render_text(state: dict[str, Any]) -> str:
    """Return the run as plain text without control characters: headline, table of steps, transcripts."""
    text = ""
    for limits in LIMITS:
        text = _page(state, limits)
        if len(text) <= STATIC_TEXT_CHARACTERS:
            break
    return text[:STATIC_TEXT_CHARACTERS]


def _page(state: dict[str, Any], limits: Limits) -> str:
    parts = [f"{title(state)} {headline(state)}"]
    if wrong := what_went_wrong(state):
        parts.append(wrong)
    if state["steps"]:
        parts.append("\n".join(filter(None, [_table(table_of_steps(state, limits)), steps_left_out(state, limits)])))
    parts.extend(_transcript(step, limits) for step in shown_steps(state, limits))
    if state["run_id"]:
        parts.append(f"Whole transcript: %steps transcript {state['run_id']}")
    return "\n\n".join(parts)


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _transcript(step: dict[str, Any], limits: Limits) -> str:
    return _conversation(step_line(step), step, limits)


def _conversation(line: str, conversation: dict[str, Any], limits: Limits) -> str:
    first, left_out, last = shown_items(conversation, limits)
    lines = [line]
    lines.extend(_indent(_item(item, limits)) for item in first)
    if left_out:
        lines.append(f"{_INDENT}… {left_out:,} entries left out …")
    lines.extend(_indent(_item(item, limits)) for item in last)
    if decided := verdict_words(conversation):
        lines.append(_indent(f"Verdict: {clip(decided, limits.text)[0]}"))
    if conversation["output"]:
        lines.append(_indent("Output: " + _clipped(conversation["output"], conversation["output_cut"], limits.text)))
    return "\n".join(line for line in lines if line.strip())


def _item(item: dict[str, Any], limits: Limits) -> str:
    match item["kind"]:
        case "text":
            return _clipped(item["text"].strip("\n"), item["cut"], limits.text)
        case "thinking":
            return f"(thought: {one_line(item['text'], _LINE_CHARACTERS)})"
        case "message":
            said = one_line(item["text"], _LINE_CHARACTERS)
            return {"system": "", "summary": f"(summary: {said})"}.get(item["role"], f"> {said}")
        case "tool":
            said = one_line(item["result"], _LINE_CHARACTERS)
            failed = ": ".join(filter(None, ["failed", said])) if item["status"] == "failed" else ""
            line = " · ".join(filter(None, [f"{item['tool']} {item['summary']}".strip(), item["facts"], failed]))
            inside = (_indent(_item(conversation, limits)) for conversation in item["inside"])
            return "\n".join([line, *inside])
        case "sub_agent":
            return _conversation(conversation_line(item), item, limits)
        case "note":
            return {"problem": "! ", "mended": "↺ "}.get(item["tone"], "") + str(item["text"])
        case "question":
            options = f" [{', '.join(item['options'])}]" if item["options"] else ""
            return f"Question: {item['text']}{options}\nAnswer: {answer_words(item)}"
        case "output":
            printed = [
                _clipped(item[stream].rstrip("\n"), item[f"{stream}_cut"], limits.result)
                for stream in ("stdout", "stderr")
            ]
            return "\n".join(filter(None, [f"exit code {item['exit_code']} · {item['facts']}", *printed]))
        case "artifact":
            return f"{item['verb']} {item['what']} ({item['facts']})"
        case _:
            return ""


def _clipped(text: str, cut: int, limit: int) -> str:
    kept, left_out = clip(text, limit)
    return "\n".join(filter(None, [kept, cut_words(left_out + cut)]))


def _indent(text: str) -> str:
    return "\n".join(_INDENT + line for line in text.split("\n")) if text else ""

"""The static result that a saved notebook keeps: structure alone, so that it reads well where styles are stripped."""

from html import escape
from typing import Any

from ..settings import STATIC_RESULT_BYTES
from ..visible import clip, one_line
from .markdown import escape_text, render_markdown
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

_LINE_CHARACTERS = 80
_ERROR_CHARACTERS = 2_000


def render_html(state: dict[str, Any]) -> str:
    """Return the run as HTML without style, script or class, under `STATIC_RESULT_BYTES` whatever is in it.

    What a model, a tool or a file said is escaped, or goes through a Markdown renderer that allows no HTML. When
    the whole does not fit, long texts are cut first, then entries are left out; each place says what is missing.
    """
    page = ""
    for limits in LIMITS:
        if _least_size(state, limits) < STATIC_RESULT_BYTES:
            page = _page(state, limits)
            if len(page.encode()) < STATIC_RESULT_BYTES:
                break
    return page


def _least_size(state: dict[str, Any], limits: Limits) -> int:
    """Count characters that these limits would keep: a cheap way not to render what cannot fit."""
    return sum(_size(step, limits) for step in state["steps"][: limits.steps])


def _size(conversation: dict[str, Any], limits: Limits) -> int:
    first, _, last = shown_items(conversation, limits)
    size = 0
    for item in (*first, *last):
        size += min(len(item.get("text", "")), limits.text) + min(len(item.get("result", "")), limits.result)
        size += sum(_size(inside, limits) for inside in _conversations(item))
    return size


def _conversations(item: dict[str, Any]) -> list[dict[str, Any]]:
    return [item] if item["kind"] == "sub_agent" else item.get("inside", [])


def _page(state: dict[str, Any], limits: Limits) -> str:
    parts = [f"<details open><summary><b>{escape_text(title(state))}</b> {escape_text(headline(state))}</summary>\n"]
    if wrong := what_went_wrong(state):
        parts.append(f"<p><b>What went wrong:</b> {_lines(clip(wrong, _ERROR_CHARACTERS)[0])}</p>\n")
    if state["steps"]:
        parts.append(_table(table_of_steps(state, limits)))
        if missing := steps_left_out(state, limits):
            parts.append(f"<p>{missing}</p>\n")
    parts.extend(_transcript(step, limits) for step in shown_steps(state, limits))
    if state["run_id"]:
        parts.append(f"<p>Whole transcript: <code>%steps transcript {escape(state['run_id'], quote=False)}</code></p>")
    return "".join([*parts, "</details>"])


def _table(rows: list[list[str]]) -> str:
    head = "".join(f"<th>{escape_text(cell)}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape_text(cell)}</td>' for cell in row)}</tr>\n" for row in rows[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>\n"


def _transcript(step: dict[str, Any], limits: Limits) -> str:
    return _fold(escape_text(step_line(step)), _entries(step, limits))


def _entries(conversation: dict[str, Any], limits: Limits) -> str:
    """Render the items of a step or of a sub-agent's conversation, and what it came to."""
    first, left_out, last = shown_items(conversation, limits)
    parts = [_item(item, limits) for item in first]
    if left_out:
        parts.append(f"<p>… {left_out:,} entries left out …</p>\n")
    parts.extend(_item(item, limits) for item in last)
    if decided := verdict_words(conversation):
        parts.append(f"<p><b>Verdict</b> {_lines(clip(decided, limits.text)[0])}</p>\n")
    if conversation["output"]:
        parts.append(f"<p><b>Output</b></p>\n{_pre(conversation['output'], conversation['output_cut'], limits.text)}")
    return "".join(parts)


def _item(item: dict[str, Any], limits: Limits) -> str:
    match item["kind"]:
        case "text":
            kept, left_out = clip(item["text"], limits.text)
            return render_markdown(kept) + _missing(left_out + item["cut"])
        case "thinking":
            return _fold("thinking", _pre(item["text"], item["cut"], limits.result))
        case "message":
            told = {"system": "system message", "summary": "summary"}.get(item["role"], "message")
            line = escape_text(one_line(item["text"], _LINE_CHARACTERS))
            return _fold(f"{told}: {line}", _pre(item["text"], item["cut"], limits.result))
        case "tool":
            return _tool(item, limits)
        case "sub_agent":
            return _fold(escape_text(conversation_line(item)), _entries(item, limits))
        case "note":
            return f"<p><i>{escape_text(clip(item['text'], limits.text)[0])}</i></p>\n"
        case "question":
            options = f" ({escape_text(', '.join(item['options']))})" if item["options"] else ""
            asked = _lines(clip(item["text"], limits.text)[0])
            answer = _lines(clip(answer_words(item), limits.text)[0])
            return f"<p><b>Question</b> {asked}{options} <b>Answer</b> {answer}</p>\n"
        case "output":
            printed = (
                _pre(item[stream], item[f"{stream}_cut"], limits.result)
                for stream in ("stdout", "stderr")
                if item[stream]
            )
            return f"<p>exit code {item['exit_code']} · {escape_text(item['facts'])}</p>\n{''.join(printed)}"
        case "artifact":
            what, facts = escape(item["what"], quote=False), escape_text(item["facts"])
            return f"<p>{item['verb']} <code>{what}</code> ({facts})</p>\n"
        case _:
            return ""


def _tool(item: dict[str, Any], limits: Limits) -> str:
    facts = [
        f"<code>{escape(item['tool'], quote=False)}</code> {escape_text(item['summary'])}".strip(),
        escape_text(item["facts"]),
    ]
    if item["status"] == "failed":
        facts.append("failed")
    inside = _pre(item["args"], item["args_cut"], limits.result)
    inside += "".join(_item(conversation, limits) for conversation in item["inside"])
    if item["result"]:
        inside += _pre(item["result"], item["result_cut"], limits.result)
    return _fold(" · ".join(filter(None, facts)), inside)


def _fold(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>\n{inside}</details>\n"


def _pre(text: str, cut: int, limit: int) -> str:
    # HTML drops a line feed right after `<pre>`, so a text that begins with one gets another.
    kept, left_out = clip(text, limit)
    feed = "\n" if kept.startswith("\n") else ""
    return f"<pre>{feed}{escape(kept, quote=False)}</pre>\n{_missing(left_out + cut)}"


def _missing(cut: int) -> str:
    return f"<p><i>{cut_words(cut)}</i></p>\n" if cut else ""


def _lines(text: str) -> str:
    return escape_text(text).replace("\n", "<br>")

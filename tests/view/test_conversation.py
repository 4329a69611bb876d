import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from stepsnb.settings import STATIC_RESULT_BYTES, STATIC_TEXT_CHARACTERS
from stepsnb.view import conversation_html, conversation_text, static_conversation_text

from .test_html import HOSTILE, read


def row(role: str, text: str | None = None, **cells: Any) -> dict[str, Any]:
    """A row of the table `transcript`, as its records have it."""
    empty = dict.fromkeys(("agent", "parent_id", "tool", "args", "tool_calls", "ok", "text_bytes", "thinking"))
    flags = dict.fromkeys(("repaired", "promoted", "truncated", "synthetic", "is_cut"), False)
    step = {"step_id": "s1", "step": "write", "depth": 0, "marks": []}
    return {**empty, **flags, **step, "role": role, "text": text, **cells}


CHILD = {"step_id": "s1.1", "step": "summarizer", "agent": "summarizer", "parent_id": "s1", "depth": 1}


def calls(name: str, arguments: str = "{}") -> str:
    return json.dumps([{"id": "c1", "name": name, "arguments": arguments}])


def delegation() -> list[dict[str, Any]]:
    return [
        row("system", "You write.", agent="writer"),
        row("user", "Write about tides."),
        row("assistant", tool_calls=calls("read_file"), synthetic=True),
        row("tool", "given", tool="read_file", ok=True, synthetic=True),
        row("note", "llm tried again"),
        row("assistant", "I ask.", tool_calls=calls("summarizer", '{"request": "sum up"}'), marks=["repaired"]),
        row("assistant", tool_calls=calls("read_file"), **CHILD),
        row("tool", "no file", tool="read_file", ok=False, text_bytes=107, **CHILD),
        row("assistant", "In short.", **CHILD),
        row("tool", "In short.", tool="summarizer", ok=True, repaired=True),
        row("tool", None, tool="add", is_cut=True),
        row("user", "Publish.", step_id="s2", step="publish"),
    ]


def test_a_sub_agent_reads_indented_at_the_call_it_answers():
    assert conversation_text(delegation()) == snapshot("""\
== write (agent writer) ==
[system] You write.
[user] Write about tides.
[assistant, put in by stepsnb]
    calls read_file {}
[tool read_file, put in by stepsnb] given
[note] llm tried again
[assistant] I ask.
    calls summarizer {"request": "sum up"}
    marks: repaired
    == summarizer, asked by write ==
    [assistant]
        calls read_file {}
    [tool read_file, failed] no file
        … 100 more bytes, in the table `tool_calls`
    [assistant] In short.
[tool summarizer] In short.
    marks: repaired
[tool add, cut off]
== publish ==
[user] Publish.\
""")


def test_the_html_nests_it_and_closes_what_it_opens():
    html = conversation_html(delegation())

    assert html[html.index("<p><b>assistant</b></p>\n<pre>I ask.") :] == snapshot("""\
<p><b>assistant</b></p>
<pre>I ask.</pre>
<p><code>calls summarizer {"request": "sum up"}</code></p>
<p><code>marks: repaired</code></p>
<details open><summary><b>summarizer, asked by write</b></summary>
<p><b>assistant</b></p>
<p><code>calls read_file {}</code></p>
<details><summary>tool read_file, failed no file</summary>
<pre>no file</pre>
<p><code>… 100 more bytes, in the table `tool_calls`</code></p>
</details>
<p><b>assistant</b></p>
<pre>In short.</pre>
</details>
<details><summary>tool summarizer In short.</summary>
<pre>In short.</pre>
<p><code>marks: repaired</code></p>
</details>
<details><summary>tool add, cut off </summary>
</details>
</details>
<details open><summary><b>publish</b></summary>
<p><b>user</b></p>
<pre>Publish.</pre>
</details>
""")
    read(html)


def test_nothing_said_becomes_markup():
    cells = {"step": HOSTILE, "agent": HOSTILE, "tool": HOSTILE, "marks": [HOSTILE], "tool_calls": calls(HOSTILE)}

    html = conversation_html([row(role, HOSTILE, **cells) for role in ("user", "tool", "note", "assistant")])

    reader = read(html)
    assert reader.tags <= {"details", "summary", "b", "p", "pre", "i", "code", "span"}
    assert reader.attributes == {"open"}
    assert "\x1b" not in html + conversation_text([row("user", HOSTILE, **cells)])


@pytest.mark.parametrize("unit", ["x", "&", "日", "$"])
def test_a_saved_one_is_bounded_and_says_what_is_cut(unit):
    rows = [row("user", unit * 9_000) for _ in range(3_000)]

    html, text = conversation_html(rows), static_conversation_text(rows)

    assert len(html.encode()) < STATIC_RESULT_BYTES
    assert len(text) <= STATIC_TEXT_CHARACTERS
    assert "more characters cut here" in html
    assert "rows left out" in html
    assert "rows left out" in text
    read(html)


def test_a_short_one_is_saved_whole():
    assert static_conversation_text(delegation()) == conversation_text(delegation())


@pytest.mark.parametrize("tool_calls", ["", "not json", "[1]", "{}"])
def test_calls_that_cannot_be_read_stop_nothing(tool_calls):
    assert conversation_text([row("assistant", "hi", tool_calls=tool_calls)]).endswith("[assistant] hi")

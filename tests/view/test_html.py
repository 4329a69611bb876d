import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from inline_snapshot import snapshot

from stepsnb.events import (
    Event,
    MessageAdded,
    Output,
    PlanNode,
    Question,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    TextDelta,
    Tool,
    TurnFinished,
)
from stepsnb.settings import STATIC_RESULT_BYTES
from stepsnb.view import Fold, render_html
from tests.support.recorded import delegation, stamp
from tests.support.sample_run import finished_run, until_question

_VOID = {"br"}


class _Reader(HTMLParser):
    """Collects tags and attributes, and checks that every element that opens closes in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def render(*events: Event) -> str:
    fold = Fold()
    for event in events:
        fold.apply(event)
    return render_html(fold.state)


def agent_run(*events: Event, outcome: str = "succeeded", error: str | None = None) -> str:
    for event in events:
        event.step_id = "s1"
    return render(
        RunStarted(run_id="R1", at=1.0, job="hello", plan=[PlanNode("writer", "agent")]),
        StepStarted(run_id="R1", step_id="s1", at=1.0, name="writer", step_kind="agent", agent="writer"),
        *events,
        StepFinished(run_id="R1", step_id="s1", name="writer", outcome=outcome, reason=error, duration_s=1.0),
        RunFinished(run_id="R1", outcome=outcome, error=error, duration_s=1.5),
    )


def test_the_result_says_how_the_run_went_and_what_each_step_cost():
    html = render(*finished_run())

    assert html[: html.index("<details><summary>repo")] == snapshot("""\
<details open><summary><b>release-note</b> succeeded · 3 min 05 s · 50,250 tokens (87% cached) · <span>$</span>0.022 · run K7QP2X</summary>
<table><thead><tr><th>step</th><th>outcome</th><th>tokens</th><th>cost</th><th>time</th></tr></thead><tbody>
<tr><td>repo</td><td>succeeded</td><td></td><td></td><td>2 s</td></tr>
<tr><td>lint</td><td>succeeded</td><td></td><td></td><td>0.4 s</td></tr>
<tr><td>writer</td><td>succeeded</td><td>50,250</td><td><span>$</span>0.022</td><td>1 min 22 s</td></tr>
<tr><td>publish</td><td>succeeded</td><td></td><td></td><td>1.2 s</td></tr>
</tbody></table>
""")  # noqa: E501  # quoted as it is


def test_a_transcript_reads_from_top_to_bottom():
    html = render(*finished_run())

    assert html[html.index("<p><b>Question") :] == snapshot("""\
<p><b>Question</b> Which version bump is this release? (major, minor, patch) <b>Answer</b> minor (by a person, after 12 s)</p>
<p>Done.</p>
<p><i>reminded of what it still owes: the file `report/note.md`</i></p>
<details><summary><code>write_file</code> report/note.md · 15 bytes · 2 ms</summary>
<pre>{"path": "report/note.md", "content": "# 1.5.0"}</pre>
<pre>wrote 412 bytes</pre>
</details>
<p><b>1.5.0</b></p>
<p>The schema moves to <strong>7</strong>; see <code>store/meta.py</code> and <a href="https://example.com/g" rel="nofollow noopener noreferrer">the guide</a>.</p>
<p>Wrote <code>report/note.md</code> (412 bytes)</p>
</details>
<p>Whole transcript: <code>%steps transcript K7QP2X</code></p></details>\
""")  # noqa: E501  # quoted as it is


def test_tool_calls_are_folded_to_one_line():
    html = agent_run(
        Tool(phase="start", call_id="c1", tool="read_file", args='{"path": "a.md"}'),
        Tool(phase="end", call_id="c1", tool="read_file", args='{"path": "a.md"}', result="\nhi", duration_s=0.004),
    )

    assert "<details><summary><code>read_file</code> a.md · 3 bytes · 4 ms</summary>\n" in html
    assert "<pre>\n\nhi</pre>" in html  # a browser drops the first line feed


def test_a_sub_agent_is_folded_inside_the_call_it_answers():
    html = render(*stamp("R1", delegation()))

    read(html)
    call = html[html.index("<details><summary><code>summarizer</code>") : html.index("<p><i>the provider sent")]
    assert call.startswith(
        '<details><summary><code>summarizer</code> "sum up" · 9 bytes · 2 s · repaired</summary>\n'
        '<pre>{"request": "sum up"}</pre>\n<details><summary>summarizer, asked by write · 1 tool call · '
    )
    assert call.endswith("</details>\n<pre>In short.</pre>\n</details>\n")


def test_a_verdict_and_a_typed_output_end_the_steps_transcript():
    html = render(
        StepStarted(step_id="s1", name="judge", step_kind="agent", agent="judge"),
        StepFinished(step_id="s1", outcome="succeeded", verdict="approve", note="fine <b>", output='{"a":"<b>"}'),
    )

    assert '<p><b>Verdict</b> approve · fine &lt;b&gt;</p>\n<p><b>Output</b></p>\n<pre>{"a": "&lt;b&gt;"}</pre>' in html


def test_no_style_script_or_class_is_used():
    reader = read(render(*finished_run()))

    assert reader.tags <= {
        *("details", "summary", "b", "span", "table", "thead", "tbody", "tr", "th", "td", "p", "i", "pre", "code"),
        *("a", "strong"),
    }
    assert reader.attributes == {"open", "href", "rel"}


def test_what_went_wrong_stands_at_the_top():
    html = agent_run(outcome="errored", error="provider `x`: key refused (401);\ncheck X_API_KEY")

    assert html.split("\n")[1] == "<p><b>What went wrong:</b> provider `x`: key refused (401);<br>check X_API_KEY</p>"


def test_the_reason_of_a_failed_step_stands_at_the_top_while_the_run_goes_on():
    html = render(
        RunStarted(run_id="R1", at=1.0, job="hello", plan=[PlanNode("build", "task"), PlanNode("tell", "agent")]),
        StepStarted(step_id="s1", name="build", step_kind="task"),
        StepFinished(step_id="s1", name="build", step_kind="task", outcome="failed", reason="exit code 2"),
    )

    assert "<b>What went wrong:</b> step build: exit code 2</p>" in html
    assert "<b>hello</b> 1 of 2 steps done · run R1</summary>" in html
    assert "<td>to come</td>" in html


def test_a_run_that_was_cut_is_unfinished():
    assert "<b>release-note</b> unfinished · " in render(*until_question(began=1.0))


def test_questions_say_who_answered_or_that_nobody_did():
    asked = {"question_id": "q1", "agent": "writer", "text": "Which port?", "options": ["A", "B"]}

    expired = agent_run(Question(**asked), Question(phase="expired", **asked), outcome="aborted", error="no answer")
    default = agent_run(Question(**asked), Question(phase="answered", answer="B", source="default", **asked))

    assert "<b>Question</b> Which port? (A, B) <b>Answer</b> nobody answered</p>" in expired
    assert "<b>Answer</b> B (the default; nobody answered)</p>" in default


def test_what_a_command_printed_is_preformatted():
    html = agent_run(Output(exit_code=2, stdout="a < b\n", stderr="oh\n", stdout_bytes=6, stderr_bytes=3))

    assert "<p>exit code 2 · 9 bytes</p>\n<pre>a &lt; b\n</pre>\n<pre>oh\n</pre>\n" in html


HOSTILE = "</pre></details><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[2J\u202e$\\href{javascript:x}{y}$"


def test_nothing_foreign_becomes_markup_wherever_it_enters():
    html = render(
        RunStarted(run_id=HOSTILE, job=HOSTILE, pipeline=HOSTILE, plan=[PlanNode(HOSTILE, HOSTILE)]),
        StepStarted(step_id="s1", name=HOSTILE, step_kind="agent", agent=HOSTILE, model=HOSTILE),
        MessageAdded(step_id="s1", role="system", text=HOSTILE),
        MessageAdded(step_id="s1", role="user", text=HOSTILE, synthetic=True),
        TurnFinished(step_id="s1", turn=1, text=HOSTILE, thinking=HOSTILE),
        Tool(step_id="s1", phase="end", call_id="c", tool=HOSTILE, args=HOSTILE, result=HOSTILE, spilled_to=HOSTILE),
        Question(step_id="s1", question_id="q", agent=HOSTILE, text=HOSTILE, options=[HOSTILE]),
        Question(step_id="s1", question_id="q", phase="answered", answer=HOSTILE, answered_by=HOSTILE),
        Output(step_id="s1", stdout=HOSTILE, stderr=HOSTILE),
        StepFinished(step_id="s1", name=HOSTILE, outcome="failed", reason=HOSTILE, verdict=HOSTILE),
        RunFinished(run_id=HOSTILE, outcome="failed", error=HOSTILE),
    )

    reader = read(html)
    assert not reader.tags & {"script", "img", "a"}
    assert reader.attributes == {"open"}
    assert "\x1b" not in html
    assert "\u202e" not in html
    prose = re.sub(r"<(pre|code)>.*?</\1>", "", html, flags=re.DOTALL)
    assert "$" not in prose.replace("<span>$</span>", "")
    assert "\\" not in prose.replace("<span>\\</span>", "")


def test_long_texts_are_cut_before_entries_are_left_out():
    calls = [
        Tool(phase="end", call_id=f"c{i}", tool="read_file", args=f'{{"path": "{i}.md"}}', result="x" * 15_000)
        for i in range(40)
    ]

    html = agent_run(*calls)

    assert len(html.encode()) < STATIC_RESULT_BYTES
    assert html.count("<summary><code>read_file</code>") == 40
    assert "more characters cut here" in html
    assert "entries left out" not in html


def test_entries_are_left_out_from_the_middle():
    calls = [
        Tool(phase="end", call_id=f"c{i}", tool="t", args=f'{{"path": "{i}.md"}}', result="x" * 1_000)
        for i in range(3_000)
    ]

    html = agent_run(*calls)

    assert len(html.encode()) < STATIC_RESULT_BYTES
    assert " 0.md " in html
    assert " 2999.md " in html
    assert re.search(r"<p>… 2,\d\d\d entries left out …</p>", html)


@pytest.mark.parametrize(
    "unit", ["x", "$", "\\", "&", "日", "\x1b", "`", "*a*", "\n\n- ", "[a](https://x.y)", "|a|b|\n"]
)
def test_the_result_stays_under_its_limit_whatever_is_in_it(unit):
    long = unit * 3_000
    events: list[Event] = []
    for i in range(150):
        step = {"run_id": "R1", "step_id": f"s{i}"}
        events.append(StepStarted(**step, name=long, step_kind="agent", index=i, agent=long, model=long))
        events.append(TextDelta(**step, turn=1, delta=long))
        events.append(Tool(**step, phase="end", call_id="c", tool=long, args=long, result=long, ok=False))
        events.append(StepFinished(**step, name=long, outcome="failed", reason=long, verdict=long))

    html = render(
        RunStarted(run_id="R1", job=long, plan=[]), *events, RunFinished(run_id="R1", outcome="failed", error=long)
    )

    assert len(html.encode()) < STATIC_RESULT_BYTES
    assert "… and " in html
    assert "Whole transcript: <code>%steps transcript R1</code>" in html
    read(html)


def test_importing_the_view_loads_no_renderer_and_nothing_of_jupyter():
    code = (
        "import sys, stepsnb.view; "
        "print([m for m in ('markdown_it', 'IPython', 'anywidget', 'ipywidgets', 'pandas') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"

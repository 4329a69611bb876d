"""The live view's JavaScript in a real browser: a page that stands in for Jupyter, fed by the real `RunView`."""

import functools
import http.server
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect

from stepsnb.events import (
    Compaction,
    ContextTruncated,
    ContextUsage,
    Event,
    LoopWarning,
    Output,
    PlanNode,
    Question,
    Request,
    Retry,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    StepTakenOver,
    TextDelta,
    Tool,
    TurnFinished,
)
from stepsnb.notebook.widgets import RunView
from stepsnb.notebook.widgets.assets import style_of
from stepsnb.notebook.widgets.run_view import run_view
from stepsnb.view import Fold
from tests.support.axe import violations
from tests.support.sample_run import QUESTION_ID, after_answer, until_question

pytestmark = pytest.mark.browser

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>view</title>
<link rel="stylesheet" href="run_view.css"></head>
<body><script type="module">
import widget, { applyPatches } from "./run_view.js";
// What anywidget gives a widget: custom messages both ways. `sent` is what would go to the kernel.
const listeners = new Set();
const model = {
  on: (name, callback) => listeners.add(callback),
  off: (name, callback) => listeners.delete(callback),
  send: (message) => window.sent.push(message),
};
window.sent = [];
window.deliver = (messages) => messages.forEach((m) => [...listeners].forEach((listener) => listener(m)));
window.listening = () => listeners.size;
window.applyPatches = (state, patches) => { applyPatches(state, patches); return state; };
window.leaked = [];
document.addEventListener("keydown", (event) => window.leaked.push(event.key));
window.addView = () => {
  const el = document.body.appendChild(document.createElement("div"));
  return widget.render({ model, el });
};
widget.initialize({ model });
window.isReady = true;
</script></body></html>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "run_view.js").write_bytes(Path(run_view.__file__).with_name("run_view.js").read_bytes())
    (folder / "run_view.css").write_text(style_of(run_view.__file__, "run_view.css"), encoding="utf-8")
    (folder / "index.html").write_text(_PAGE, encoding="utf-8")
    serve = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


class Stage:
    """A kernel's side (a fold and the real widget, its messages caught) and the page that shows it."""

    def __init__(self, page: Page, site: str) -> None:
        self.page = page
        self.fold = Fold()
        self.messages: list[dict[str, Any]] = []
        self.stops: list[bool] = []
        self.answers: list[tuple[str, str]] = []
        self.widget = RunView(
            self.fold,
            on_stop=lambda: self.stops.append(True),
            on_answer=lambda question_id, text: self.answers.append((question_id, text)),
            on_ready=lambda: None,
        )
        self.widget.send = self.messages.append
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(site)
        page.wait_for_function("window.isReady")

    def open(self, *events: Event, views: int = 1) -> None:
        """Show these events in a view that opens after them."""
        self.apply(*events)
        for _ in range(views):
            self.page.evaluate("() => { window.closeView = window.addView(); }")
        self.exchange()

    def apply(self, *events: Event) -> None:
        for event in events:
            self.fold.apply(event)

    def tell(self, *events: Event) -> None:
        """Let these events happen while the page looks on."""
        self.apply(*events)
        self.widget.flush()
        self.exchange()

    def exchange(self) -> None:
        """Carry messages both ways until neither side has any left."""
        while True:
            sent = self.page.evaluate("() => window.sent.splice(0)")
            for message in sent:
                self.widget._receive(self.widget, message, [])
            waiting, self.messages[:] = json.loads(json.dumps(self.messages)), []
            if not sent and not waiting:
                return
            self.page.evaluate("(messages) => window.deliver(messages)", waiting)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.exchange()

    def run_to_question(self) -> float:
        began = time.time() - 102
        self.open(*until_question(began=began))
        return began


@pytest.fixture
def stage(new_page: Callable[[], Page], site: str) -> Iterator[Stage]:
    page = new_page()
    stage = Stage(page, site)
    yield stage
    stage.widget.close()
    page.close()
    assert stage.errors == []


def started(*plan: PlanNode) -> list[Event]:
    """A run whose first step, an agent, has begun."""
    nodes = list(plan) or [PlanNode("writer", "agent")]
    return [
        RunStarted(run_id="R1", at=time.time(), job="hello", plan=nodes),
        StepStarted(
            run_id="R1", step_id="s1", at=time.time(), name="writer", step_kind="agent", agent="writer", model="m"
        ),
    ]


def helper(*events: Event) -> list[Event]:
    """The writer has called a sub-agent, in whose conversation `events` happen."""
    for event in events:
        event.step_id = "s1.1"
    return [
        ContextUsage(step_id="s1", used=52_480, total=128_000, compact_at=102_400),
        Tool(step_id="s1", phase="start", call_id="c1", tool="summarizer", args='{"request": "sum up"}'),
        StepStarted(
            step_id="s1.1",
            name="summarizer",
            step_kind="sub_agent",
            parent_id="s1",
            call_id="c1",
            agent="summarizer",
            model="small",
        ),
        *events,
    ]


def incidents() -> list[Event]:
    """What goes wrong in the writer's step, and what becomes of it."""
    step = {"step_id": "s1"}
    return [
        Request(**step, turn=1, status=429, error="too many requests"),
        Retry(**step, turn=1, attempt=2, max_attempts=3, wait_s=2.0),
        Compaction(**step, before=104_000),
        Compaction(**step, phase="end", before=104_000, after=21_000, summary="The outage began at noon."),
        LoopWarning(**step, tool="read_file", count=6),
        ContextTruncated(**step, sent=9_000, reported=4_096),
    ]


def asks(**fields: Any) -> Question:
    return Question(**{"step_id": "s1", "question_id": "q1", "agent": "writer", "text": "Which port?", **fields})


# Sub-agents


def test_a_sub_agent_streams_beside_the_call_it_answers_and_is_not_in_the_plan(stage):
    stage.open(*started(), *helper(TextDelta(turn=1, delta="The outage ")))
    call = stage.page.locator(".call")

    stage.tell(TextDelta(step_id="s1.1", turn=1, delta="began"), Request(step_id="s1.1", input_tokens=90, cost_usd="0"))

    expect(call.locator(".sub-agent .text")).to_have_text("The outage began")
    expect(call.locator(".sub-agent > summary .who")).to_have_text("summarizer, asked by writer · small")
    expect(call.locator(".sub-agent > summary .r")).to_have_text("working… · 90 tokens · $0")
    assert stage.page.locator("nav li").count() == 1


def test_a_view_that_opens_late_shows_the_same_of_a_sub_agent(stage):
    stage.open(*started(), *helper(TextDelta(turn=1, delta="Hm"), Tool(phase="start", call_id="c1", tool="read_file")))
    shown = stage.page.locator(".stepsnb-run").inner_text()

    stage.page.evaluate("() => window.addView()")
    stage.exchange()

    assert stage.page.locator(".stepsnb-run").nth(1).inner_text() == shown


def test_a_question_of_a_sub_agent_is_answered_where_it_stands(stage):
    stage.open(*started(), *helper(Question(question_id="q1", agent="summarizer", text="Which?", options=["a", "b"])))

    stage.page.locator(".stepsnb-run").focus()
    stage.press("2")

    assert stage.answers == [("q1", "b")]
    stage.tell(Question(step_id="s1.1", question_id="q1", phase="answered", answer="b", source="widget"))
    expect(stage.page.locator(".sub-agent .question .answer")).to_have_text("answer: b (by a person)")


def test_the_failure_key_opens_what_a_failed_sub_agent_is_inside_of(stage):
    stage.open(*started(), *helper(Tool(phase="end", call_id="c2", tool="read_file", result="no", ok=False)))
    stage.page.locator(".sub-agent").evaluate("(details) => { details.open = false; }")

    stage.page.locator(".stepsnb-run").focus()
    stage.press("f")

    expect(stage.page.locator(".sub-agent details.bad > summary")).to_be_focused()


def test_a_sub_agent_that_failed_says_why(stage):
    ended = StepFinished(step_id="s1.1", step_kind="sub_agent", outcome="failed", reason="out of turns")

    stage.open(*started(), *helper(), ended)

    expect(stage.page.locator(".sub-agent.bad .note.problem")).to_have_text("failed: out of turns")


# What went wrong, and what came of it


def test_incidents_are_notes_and_a_cut_context_a_warning_at_the_gauge(stage):
    stage.open(*started(), ContextUsage(step_id="s1", used=90_000, total=128_000), *incidents())

    expect(stage.page.locator(".note:not([hidden])")).to_have_text(
        [
            "request failed (429): too many requests",
            "the request is tried again in 2 s (2 of 3)",
            "summarised the conversation: 104,000 → 21,000 tokens",
            "called `read_file` 6 times with the same result; told so",
            "the server read 4,096 of about 9,000 tokens: it cut the conversation without saying so",
        ]
    )
    expect(stage.page.locator(".head .warning")).to_contain_text("the server read 4,096 of about 9,000 tokens")
    expect(stage.page.get_by_role("meter")).to_have_attribute("aria-valuenow", "21000")
    expect(stage.page.locator("details.message .r")).to_have_text("summary")


def test_a_verdict_and_a_typed_output_stand_at_the_end_of_their_step(stage):
    ended = StepFinished(
        step_id="s1", name="writer", outcome="succeeded", verdict="approve", note="fine <b>", output='{"a": "<b>"}'
    )

    stage.open(*started(), ended)

    expect(stage.page.locator(".ending .verdict")).to_have_text("approve fine <b>")
    expect(stage.page.locator(".ending details.typed pre.output")).to_have_text('{"a": "<b>"}')


# State and patches


def test_the_javascript_applier_agrees_with_the_python_one(stage):
    fold = Fold()
    before, batches = fold.state, []
    for event in [*until_question(began=1.0), *after_answer(began=1.0)]:
        fold.apply(event)
        batches.extend(fold.take_patches())

    after = stage.page.evaluate("([state, patches]) => window.applyPatches(state, patches)", [before, batches])

    assert after == fold.state


def test_an_unknown_patch_operation_is_refused(stage):
    with pytest.raises(PlaywrightError, match="unknown patch operation drop"):
        stage.page.evaluate("() => window.applyPatches({}, [{op: 'drop', path: ['a'], value: 1}])")


def test_the_front_end_proves_that_it_can_talk_back_without_a_view(stage):
    stage.page.evaluate("() => window.deliver([{t: 'ping'}])")

    assert stage.page.evaluate("() => window.sent") == [{"t": "ready"}, {"t": "pong"}]


def test_text_streams_into_the_view(stage):
    stage.open(*started())
    text = stage.page.locator(".text")

    stage.tell(TextDelta(step_id="s1", turn=1, delta="The tide "))
    expect(text).to_have_text("The tide ", use_inner_text=True)
    stage.tell(TextDelta(step_id="s1", turn=1, delta="turns\nat 4.1 m."))
    expect(text).to_have_text("The tide turns\nat 4.1 m.", use_inner_text=True)
    expect(stage.page.locator(".m")).to_have_class("m writing")
    stage.tell(TurnFinished(step_id="s1", turn=1, text="The tide turns\nat 4.1 m."))
    stage.tell(StepFinished(step_id="s1", name="writer", outcome="succeeded"))
    expect(stage.page.locator(".m")).to_have_class("m")


def test_streaming_keeps_a_selection(stage):
    stage.open(*started(), TextDelta(step_id="s1", turn=1, delta="The tide "))
    stage.page.locator(".text").evaluate("(el) => getSelection().setBaseAndExtent(el.firstChild, 0, el.firstChild, 8)")

    stage.tell(TextDelta(step_id="s1", turn=1, delta="turns."))

    assert stage.page.evaluate("() => String(getSelection())") == "The tide"


def test_two_views_of_one_run_show_the_same(stage):
    stage.open(*started(), TextDelta(step_id="s1", turn=1, delta="The tide "), views=2)

    stage.tell(TextDelta(step_id="s1", turn=1, delta="turns."))

    assert stage.page.locator(".text").all_inner_texts() == ["The tide turns."] * 2


def test_a_late_view_is_right_and_leaves_the_first_as_it_is(stage):
    stage.run_to_question()
    stage.page.get_by_label("Your own answer").fill("1.5")

    stage.page.evaluate("() => { window.addView(); }")
    stage.exchange()
    stage.tell(ContextUsage(run_id="K7QP2X", step_id="s3", used=60_000, total=128_000))

    assert stage.page.locator(".context .n:visible").all_inner_texts() == ["60,000 of 128,000"] * 2
    assert [box.input_value() for box in stage.page.get_by_label("Your own answer").all()] == ["1.5", ""]


def test_a_view_that_missed_a_batch_asks_for_the_state(stage):
    stage.open(*started())
    stage.apply(TextDelta(step_id="s1", turn=1, delta="lost "))
    stage.widget.flush()
    stage.messages.clear()

    stage.tell(TextDelta(step_id="s1", turn=1, delta="found"))

    expect(stage.page.locator(".text")).to_have_text("lost found")


def silence(stage: Stage) -> None:
    """Let what the page sends reach nobody, as when its kernel was killed, and time go on."""
    for _ in range(20):
        stage.page.clock.run_for(1_000)


def test_a_kernel_that_no_longer_answers_is_said_and_takes_no_answer(stage):
    stage.page.clock.install()
    stage.run_to_question()
    stage.page.evaluate("() => { window.sent.length = 0; }")

    silence(stage)

    header = stage.page.locator("header")
    expect(header.get_by_role("status")).to_have_text("the kernel doesn't answer")
    expect(stage.page.get_by_role("alert")).to_contain_text("`%steps runs` shows it and how to go on")
    expect(header.get_by_role("button", name="Stop")).to_be_disabled()
    expect(stage.page.get_by_role("button", name="major")).to_be_disabled()
    assert {message["t"] for message in stage.page.evaluate("() => window.sent")} == {"hello"}


def test_a_kernel_that_answers_again_takes_answers_again(stage):
    stage.page.clock.install()
    stage.run_to_question()
    silence(stage)

    stage.exchange()

    expect(stage.page.locator("header").get_by_role("status")).to_have_text("waiting for you")
    expect(stage.page.get_by_role("alert")).to_be_hidden()
    stage.page.get_by_role("button", name="major").click()
    stage.exchange()
    assert stage.answers == [(QUESTION_ID, "major")]


def test_a_silent_kernel_that_answers_is_not_called_gone(stage):
    stage.page.clock.install()
    stage.run_to_question()

    for _ in range(20):
        stage.page.clock.run_for(1_000)
        stage.exchange()

    expect(stage.page.locator("header").get_by_role("status")).to_have_text("waiting for you")


def test_a_closed_view_listens_no_longer(stage):
    stage.open(*started())
    listening = stage.page.evaluate("() => window.listening()")

    stage.page.evaluate("() => window.closeView()")

    assert stage.page.evaluate("() => window.listening()") == listening - 1


def test_a_long_run_stays_quick(stage):
    calls = [
        Tool(step_id="s1", phase=phase, call_id=f"c{i}", tool="read_file", args='{"path": "a"}', result="x" * 500)
        for i in range(3_000)
        for phase in ("start", "end")
    ]
    stage.open(*started(), *calls)
    began = time.monotonic()

    for _ in range(10):
        stage.tell(TextDelta(step_id="s1", turn=1, delta="word "))

    assert time.monotonic() - began < 5
    expect(stage.page.locator("details.tool")).to_have_count(3_000)
    expect(stage.page.locator("details.tool pre")).to_have_count(0)  # built when they are opened


# What it shows


def test_the_header_says_how_the_run_is_doing(stage):
    began = stage.run_to_question()
    header = stage.page.locator("header")

    expect(header.get_by_role("status")).to_have_text("waiting for you")
    expect(header.locator(".elapsed")).to_have_text(re.compile("1:4[2-5]"))
    expect(header.locator(".tokens")).to_have_text("31,450 tokens · 80% cached")
    expect(header.locator(".cost")).to_have_text("$0.018")
    expect(stage.page.get_by_role("region", name="Run of job release-note")).to_be_visible()
    stage.tell(*after_answer(began=began))
    expect(header.get_by_role("status")).to_have_text("succeeded")
    expect(header.locator(".elapsed")).to_have_text("3:05")
    expect(stage.page.get_by_role("button", name="Stop")).to_be_hidden()


def test_elapsed_time_ticks_by_the_kernels_clock(stage):
    stage.page.clock.install(time=0)  # a browser decades behind
    stage.open(*started())
    elapsed = stage.page.locator(".elapsed")

    expect(elapsed).to_have_text("0:00")
    stage.page.clock.run_for(65_000)
    expect(elapsed).to_have_text(re.compile("1:0[5-8]"))


def test_the_plan_shows_each_step_and_lights_the_one_that_works(stage):
    began = stage.run_to_question()
    rows = stage.page.get_by_role("navigation", name="Plan").get_by_role("listitem")

    assert [text.split("\n") for text in rows.all_inner_texts()] == [
        ["✓", "repo", ", succeeded", "2s"],
        ["✓", "lint", ", succeeded", "0.4s"],
        ["?", "writer", ", waiting", "turn 2"],
        ["·", "publish", ", pending"],
    ]
    expect(stage.page.locator("[aria-current=step]")).to_have_count(1)
    stage.tell(*after_answer(began=began))
    assert [text.split("\n")[-1] for text in rows.all_inner_texts()] == ["2s", "0.4s", "1:22", "1.2s"]
    expect(stage.page.locator("[aria-current=step]")).to_have_count(0)


def test_nested_steps_are_drawn_under_their_block_and_counted(stage):
    plan = [
        PlanNode("review", "do"),
        PlanNode("publish", "task"),
        PlanNode("api", "task", 0),
        PlanNode("docs", "task", 0),
    ]
    stage.open(RunStarted(job="hello", plan=plan))
    for index, name in ((2, "api"), (3, "docs")):
        stage.tell(StepStarted(step_id=name, name=name, step_kind="task", index=index))
        stage.tell(StepFinished(step_id=name, name=name, outcome="succeeded", verdict="approve"))
    rows = stage.page.get_by_role("listitem")

    assert [text.split("\n")[1] for text in rows.all_inner_texts()] == ["review", "api", "docs", "publish"]
    assert [text.split("\n")[-1] for text in rows.all_inner_texts()][:3] == ["2 passed", "approve", "approve"]
    assert rows.nth(1).locator(".row").bounding_box()["height"] == rows.nth(0).locator(".row").bounding_box()["height"]
    assert rows.nth(1).locator(".mark").bounding_box()["x"] > rows.nth(0).locator(".mark").bounding_box()["x"]


def test_a_block_of_the_plan_folds_and_tells_its_counts(stage):
    plan = [PlanNode("review", "in_parallel"), *(PlanNode(name, "task", 0) for name in ("api", "docs", "tests"))]
    stage.open(RunStarted(job="hello", plan=plan))
    for index, name, outcome in ((1, "api", "succeeded"), (2, "docs", "failed")):
        stage.tell(StepStarted(step_id=name, name=name, step_kind="task", index=index))
        stage.tell(StepFinished(step_id=name, name=name, outcome=outcome))
    rows = stage.page.locator("nav li")
    fold = stage.page.get_by_role("button", name="steps in review")
    expect(rows).to_have_count(4)

    fold.click()
    expect(rows).to_have_count(1)
    expect(rows.locator(".detail")).to_have_text("1 passed, 1 failed, 1 to come")
    expect(fold).to_have_attribute("aria-expanded", "false")
    stage.tell(StepStarted(step_id="tests", name="tests", step_kind="task", index=3))
    expect(rows.locator(".detail")).to_have_text("1 passed, 1 failed, 1 running")

    stage.page.keyboard.press("e")
    expect(rows).to_have_count(4)
    stage.page.keyboard.press("c")
    expect(rows).to_have_count(1)


def test_a_block_of_many_steps_begins_folded(stage):
    plan = [PlanNode("all", "in_parallel"), *(PlanNode(f"cell {number}", "task", 0) for number in range(41))]
    stage.open(RunStarted(job="hello", plan=plan))

    expect(stage.page.locator("nav li")).to_have_count(1)
    expect(stage.page.locator("nav .detail")).to_have_text("41 to come")


def test_a_row_of_the_plan_leads_to_its_transcript(stage):
    began = stage.run_to_question()
    stage.tell(*after_answer(began=began))

    stage.page.get_by_role("button", name="lint").first.click()

    expect(stage.page.locator(".step[aria-label='Step lint'] .who")).to_be_focused()
    expect(stage.page.get_by_text("exit code 0")).to_be_in_viewport()


def test_the_context_meter_says_how_full_the_window_is(stage):
    stage.run_to_question()
    meter = stage.page.get_by_role("meter", name="context used")

    expect(meter).to_have_attribute("aria-valuenow", "52480")
    expect(meter).to_have_attribute("aria-valuemax", "128000")
    expect(meter).to_have_attribute("aria-valuetext", "52,480 of 128,000 tokens, summarised at 102,400")
    expect(meter.locator("u")).to_have_attribute("title", "compaction at 80 %")
    stage.tell(ContextUsage(run_id="K7QP2X", step_id="s3", used=125_000, total=128_000))
    expect(meter).to_have_class("bar full")


def test_a_window_nobody_knows_has_figures_and_no_meter(stage):
    stage.open(*started(), ContextUsage(step_id="s1", used=1_200))

    expect(stage.page.locator(".context")).to_have_text("context1,200 tokens")
    expect(stage.page.get_by_role("meter")).to_be_hidden()


def test_a_tool_call_opens_to_its_arguments_and_result(stage):
    stage.open(*started(), Tool(step_id="s1", phase="start", call_id="c", tool="read_file", args='{"path": "a.md"}'))
    call = stage.page.locator("details.tool")

    expect(call.locator("summary")).to_have_text("read_file a.md running…")
    call.locator("summary").click()
    expect(call.locator("pre.args")).to_have_text('{"path": "a.md"}')
    expect(call.locator("pre.result")).to_be_hidden()
    stage.tell(Tool(step_id="s1", phase="end", call_id="c", tool="read_file", result="no such file", ok=False))
    expect(call.locator("pre.result")).to_have_text("no such file")
    expect(call.locator(".r")).to_have_text("failed · 12 bytes")


def test_what_was_cut_points_to_the_stored_transcript(stage):
    stage.open(*started(), TurnFinished(step_id="s1", turn=1, text="x" * 70_000))

    expect(stage.page.locator(".cut")).to_have_text("cut here; the rest: %steps transcript R1")


def test_thinking_and_messages_are_folded(stage):
    stage.run_to_question()

    for name in ("thinking", "message"):
        boxes = stage.page.locator(f"details.{name}")
        assert boxes.count() >= 1
        assert not boxes.first.evaluate("(box) => box.open")


def test_a_failed_run_says_why(stage):
    stage.open(
        *started(),
        StepFinished(step_id="s1", name="writer", outcome="errored", reason="key refused (401)"),
        RunFinished(outcome="errored", error="step `writer`: key refused (401)"),
    )

    expect(stage.page.get_by_role("alert")).to_have_text("step `writer`: key refused (401)")
    expect(stage.page.locator(".note.problem")).to_have_text("errored: key refused (401)")
    expect(stage.page.get_by_role("status")).to_have_class("status errored")


HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>\x1b[2J\u202e[a](javascript:alert(1))"


def test_nothing_foreign_becomes_markup(stage):
    stage.open(
        RunStarted(job=HOSTILE, plan=[PlanNode(HOSTILE, HOSTILE)]),
        StepStarted(step_id="s1", name=HOSTILE, step_kind="agent", agent=HOSTILE, model=HOSTILE),
        TurnFinished(step_id="s1", turn=1, text=HOSTILE, thinking=HOSTILE),
        Tool(step_id="s1", phase="end", call_id="c", tool=HOSTILE, args=HOSTILE, result=HOSTILE),
        Output(step_id="s1", stdout=HOSTILE, stderr=HOSTILE),
        asks(text=HOSTILE, options=[HOSTILE], default=HOSTILE, agent=HOSTILE),
        asks(question_id="q2", phase="answered", answer=HOSTILE),
        StepFinished(step_id="s1", name=HOSTILE, outcome="failed", reason=HOSTILE, verdict=HOSTILE),
        RunFinished(outcome="failed", error=HOSTILE),
    )
    stage.page.locator(".pane").focus()
    stage.press("e")

    view = stage.page.locator(".stepsnb-run")
    assert view.locator("img, script, a, iframe, style").count() == 0
    text = view.text_content()
    assert text.count("<script>alert(1)</script>␛[2J\\u202e") >= 10
    assert "\x1b" not in text
    assert "\u202e" not in text


# Questions


def test_an_option_is_answered_by_a_click_once(stage):
    stage.run_to_question()
    options = stage.page.locator(".choices button[aria-keyshortcuts]")

    assert options.all_inner_texts() == ["1major", "2minor", "3patch default"]
    options.nth(1).click()
    options.nth(0).click(force=True)
    stage.exchange()

    assert stage.answers == [(QUESTION_ID, "minor")]
    expect(options.nth(0)).to_be_disabled()
    expect(stage.page.locator(".foot")).to_contain_text("sending…")


def test_the_default_is_marked_and_never_chosen_beforehand(stage):
    stage.run_to_question()

    default = stage.page.locator(".choices .default")
    expect(default).to_have_text("3patch default")
    assert default.evaluate("(button) => getComputedStyle(button).borderTopStyle") == "dashed"
    assert stage.page.evaluate("() => document.activeElement === document.body")


def test_a_default_that_is_no_option_can_be_chosen_too(stage):
    stage.open(*started(), asks(default="8443"))

    stage.page.get_by_role("button", name="8443").click()
    stage.exchange()

    assert stage.answers == [("q1", "8443")]


def test_an_answer_of_ones_own_is_sent_by_enter_or_the_button(stage):
    stage.open(*started(), asks(), asks(question_id="q2", text="And the host?"))
    boxes = stage.page.get_by_label("Your own answer")

    boxes.first.fill("8080")
    boxes.first.press("Enter")
    boxes.nth(1).fill("localhost")
    stage.page.get_by_role("button", name="Send").nth(1).click()
    stage.exchange()

    assert stage.answers == [("q1", "8080"), ("q2", "localhost")]


def test_an_empty_answer_is_not_sent(stage):
    stage.open(*started(), asks())

    stage.page.get_by_label("Your own answer").press("Enter")
    stage.page.get_by_role("button", name="Send").click()
    stage.exchange()

    assert stage.answers == []


def test_where_an_option_is_required_there_is_no_text_box(stage):
    stage.open(*started(), asks(options=["A", "B"], options_required=True))

    expect(stage.page.get_by_role("button", name="A", exact=True)).to_be_visible()
    expect(stage.page.locator(".question input")).to_have_count(0)


def test_a_reason_goes_with_the_option_that_is_clicked(stage):
    stage.open(*started(), asks(options=["approve", "reject"], options_required=True, takes_reason=True))

    stage.page.get_by_label("Your reason").fill("not on a Friday")
    stage.page.get_by_role("button", name="reject").click()
    stage.exchange()

    assert stage.answers == [("q1", "reject: not on a Friday")]


def test_a_question_says_who_asks_and_what_happens_without_an_answer(stage):
    stage.page.clock.install()
    stage.open(*started(), asks(default="B", options=["A", "B"], expires_at=time.time() + 252.5))
    foot = stage.page.locator(".foot")

    expect(foot).to_contain_text("asked by writer")
    expect(foot).to_contain_text(re.compile("4:1[0-2] left, then “B”"))
    stage.page.clock.run_for(60_000)
    stage.exchange()
    expect(foot).to_contain_text(re.compile("3:1[0-2] left, then “B”"))
    stage.page.clock.run_for(300_000)
    stage.exchange()
    expect(foot).to_contain_text("time is up")


def test_without_a_default_the_run_stops(stage):
    stage.open(*started(), asks(expires_at=time.time() + 61))

    expect(stage.page.locator(".foot")).to_contain_text(re.compile(r"(1:00|0:5\d) left, then the run stops"))


def test_an_answer_that_came_too_late_shows_what_happened_instead(stage):
    stage.open(*started(), asks(options=["A", "B"], default="B"))
    stage.page.get_by_role("button", name="A", exact=True).click()

    stage.tell(asks(phase="answered", answer="B", source="default"))

    expect(stage.page.locator(".foot span:visible")).to_have_text(
        ["asked by writer", "answer: B (the default; nobody answered)"]
    )
    expect(stage.page.locator(".choices")).to_be_hidden()
    expect(stage.page.get_by_role("status")).to_have_text("running")


def test_an_answer_that_nobody_took_can_be_given_again(stage):
    stage.page.clock.install()
    stage.open(*started(), asks(options=["A", "B"]))
    stage.page.get_by_role("button", name="A", exact=True).click()

    stage.page.clock.run_for(4_500)

    expect(stage.page.locator(".foot")).to_contain_text("not taken yet; try again")
    stage.page.get_by_role("button", name="A", exact=True).click()
    stage.exchange()
    assert stage.answers == [("q1", "A")] * 2


def test_a_question_is_announced(stage):
    stage.open(*started())
    stage.tell(asks())

    expect(stage.page.locator("[aria-live=polite]")).to_have_text("writer asks: Which port?")


# Stop and keys


def test_stop_is_sent_once_and_says_so(stage):
    stage.open(*started())

    stage.page.get_by_role("button", name="Stop").click()
    stage.page.get_by_role("button", name="Stop").click(force=True)
    stage.exchange()

    assert stage.stops == [True]
    expect(stage.page.get_by_role("button", name="Stop")).to_be_disabled()
    expect(stage.page.get_by_role("status")).to_have_text("stopping…")
    stage.tell(RunFinished(outcome="aborted", error="stopped"))
    expect(stage.page.get_by_role("status")).to_have_text("aborted")


def test_keys_stop_and_answer(stage):
    stage.run_to_question()
    stage.page.locator(".pane").focus()

    stage.press("9", "2", "s")

    assert stage.answers == [(QUESTION_ID, "minor")]
    assert stage.stops == [True]


def test_keys_move_open_and_close(stage):
    stage.run_to_question()
    page = stage.page
    page.locator(".pane").focus()

    def here() -> str:
        return page.evaluate("() => document.activeElement.innerText")

    stage.press("j")
    assert here().startswith("repo")
    stage.press("j", "j")
    assert here().startswith("exit code 0")
    stage.press("k")
    assert here().startswith("lint")
    stage.press("Enter")
    expect(page.locator(".step[aria-label='Step lint'] .items")).to_be_hidden()
    stage.press("e")
    expect(page.locator(".step[aria-label='Step lint'] .items")).to_be_visible()
    while "read_file" not in here():
        stage.press("j")
    stage.press("e")
    expect(page.locator("details.tool").first.locator("pre.args")).to_be_visible()
    stage.press("c")
    expect(page.locator("details.tool").first.locator("pre.args")).to_be_hidden()
    stage.press("Enter")
    expect(page.locator("details.tool").first.locator("pre.args")).to_be_visible()
    for _ in range(20):
        stage.press("j")
    assert here().startswith("Which version bump")


def test_the_failure_key_leads_to_why_it_failed(stage):
    stage.open(*started(PlanNode("writer", "agent"), PlanNode("build", "task")))
    stage.tell(
        Tool(step_id="s1", phase="end", call_id="c", tool="read_file", result="no such file", ok=False),
        StepFinished(step_id="s1", name="writer", outcome="succeeded"),
    )
    stage.page.locator(".pane").focus()
    stage.press("f")
    expect(stage.page.locator("details.bad summary")).to_be_focused()
    expect(stage.page.locator("details.bad pre.result")).to_be_visible()

    stage.tell(
        StepStarted(step_id="s2", name="build", step_kind="task", index=1),
        StepFinished(step_id="s2", name="build", outcome="failed", reason="exit code 2"),
    )
    stage.press("f")
    expect(stage.page.locator(".note.problem:visible")).to_be_focused()
    expect(stage.page.locator(".note.problem:visible")).to_have_text("failed: exit code 2")


def test_the_failure_key_says_when_nothing_failed(stage):
    stage.open(*started())
    stage.page.locator(".pane").focus()

    stage.press("f")

    expect(stage.page.locator("[aria-live=polite]")).to_have_text("nothing failed")


def test_plain_keys_stay_in_the_view_and_shortcuts_go_through(stage):
    stage.run_to_question()
    stage.page.locator(".pane").focus()

    stage.press("d", "d", "x", "j", "Enter", "ArrowDown", "Control+k", "Shift+Enter")

    assert [key for key in stage.page.evaluate("() => window.leaked") if key not in ("Control", "Shift")] == [
        "k",
        "Enter",
    ]


def test_keys_typed_into_the_answer_are_only_text(stage):
    stage.run_to_question()
    box = stage.page.get_by_label("Your own answer")

    box.press_sequentially("js1ecf")
    stage.exchange()

    expect(box).to_have_value("js1ecf")
    assert (stage.stops, stage.answers) == ([], [])
    assert stage.page.evaluate("() => window.leaked") == []
    stage.press("Escape", "1")
    assert stage.answers == [(QUESTION_ID, "major")]


# Scrolling


def paragraph(i: int) -> TurnFinished:
    return TurnFinished(step_id="s1", turn=i, text=f"paragraph {i}\n" * 5)


def test_the_view_follows_what_is_new_while_the_reader_is_at_the_end(stage):
    stage.open(*started(), *(paragraph(i) for i in range(20)))

    stage.tell(TurnFinished(step_id="s1", turn=21, text="the newest"))

    expect(stage.page.get_by_text("the newest")).to_be_in_viewport()
    expect(stage.page.locator(".jump")).to_be_hidden()


def test_a_reader_who_scrolled_up_is_left_there_and_offered_the_way_back(stage):
    stage.open(*started(), *(paragraph(i) for i in range(20)))
    pane = stage.page.locator(".pane")
    pane.evaluate("(pane) => { pane.scrollTop = 40; }")

    stage.tell(asks())

    assert pane.evaluate("(pane) => pane.scrollTop") == 40
    stage.page.get_by_role("button", name="↓ question").click()
    expect(stage.page.locator(".question")).to_be_in_viewport()


# How it looks


@pytest.mark.parametrize(("width", "columns"), [(320, 1), (620, 1), (1_030, 2)])
def test_it_folds_to_one_column_where_it_is_narrow(stage, width, columns):
    stage.page.set_viewport_size({"width": width, "height": 900})
    stage.run_to_question()

    grid = stage.page.locator(".grid").evaluate("(grid) => getComputedStyle(grid).gridTemplateColumns")
    assert len(grid.split()) == columns
    assert stage.page.evaluate("() => document.documentElement.scrollWidth") <= width
    for place in (".pane", "header", "nav"):
        assert stage.page.locator(place).evaluate("(el) => el.scrollWidth <= el.clientWidth"), place


def background(stage: Stage) -> str:
    return stage.page.locator(".stepsnb-run").evaluate("(el) => getComputedStyle(el).backgroundColor")


LIGHT, DARK = "rgb(255, 255, 255)", "rgb(17, 20, 24)"


@pytest.mark.parametrize(("system", "colour"), [("light", LIGHT), ("dark", DARK)])
def test_outside_jupyter_it_takes_the_systems_theme(stage, system, colour):
    stage.page.emulate_media(color_scheme=system)
    stage.run_to_question()

    assert background(stage) == colour


@pytest.mark.parametrize(
    ("attribute", "value", "system", "colour"),
    [
        ("data-jp-theme-light", "true", "dark", LIGHT),
        ("data-jp-theme-light", "false", "light", DARK),
        ("class", "vscode-light", "dark", LIGHT),
        ("class", "vscode-dark", "light", DARK),
    ],
)
def test_a_front_ends_theme_wins_over_the_systems(stage, attribute, value, system, colour):
    stage.page.emulate_media(color_scheme=system)
    stage.page.evaluate("([name, value]) => document.body.setAttribute(name, value)", [attribute, value])
    stage.run_to_question()

    assert background(stage) == colour


def test_jupyters_own_colours_are_used(stage):
    stage.page.add_style_tag(content=":root { --jp-layout-color1: rgb(1, 2, 3); }")
    stage.run_to_question()

    assert background(stage) == "rgb(1, 2, 3)"


_CONTRAST = """(root) => {
  const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (el) => {
    for (; el; el = el.parentElement) {
      const colour = parse(getComputedStyle(el).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const el of root.querySelectorAll("*")) {
    const own = [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || el.offsetParent === null || el.matches(":disabled *")) continue;
    const pair = [parse(getComputedStyle(el).color), behind(el)].map(luminance).sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) faint.push(`${el.className || el.tagName} ${el.textContent.slice(0, 20)}: ${ratio.toFixed(2)}`);
  }
  return faint;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(stage, theme):
    stage.page.emulate_media(color_scheme=theme)
    began = stage.run_to_question()
    stage.tell(Tool(run_id="K7QP2X", step_id="s3", phase="end", call_id="c9", tool="t", result="no", ok=False))

    assert stage.page.locator(".stepsnb-run").evaluate(_CONTRAST) == []
    stage.tell(*after_answer(began=began))
    assert stage.page.locator(".stepsnb-run").evaluate(_CONTRAST) == []


@pytest.mark.parametrize(("theme", "width"), [("light", 1_030), ("dark", 320)])
def test_axe_finds_nothing_while_a_question_waits_or_once_the_run_is_over(stage, theme, width):
    stage.page.emulate_media(color_scheme=theme)
    stage.page.set_viewport_size({"width": width, "height": 900})
    began = stage.run_to_question()
    stage.page.locator(".pane").focus()
    stage.press("e")
    expect(stage.page.locator("pre.args").first).to_be_visible()
    assert violations(stage.page) == []

    stage.tell(*after_answer(began=began))
    assert violations(stage.page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_sub_agents_incidents_and_a_failed_run(stage, theme):
    stage.page.emulate_media(color_scheme=theme)
    ended = StepFinished(step_id="s1", name="writer", outcome="failed", reason="no", verdict="no", output="{}")
    failed = Tool(phase="end", call_id="c2", tool="read_file", args="{}", result="no", ok=False)
    stage.open(*started(), *helper(failed, TextDelta(turn=1, delta="Hm")), *incidents())
    stage.page.locator(".stepsnb-run").focus()
    stage.press("e")
    assert violations(stage.page) == []

    stage.tell(ended, RunFinished(outcome="failed"))
    assert violations(stage.page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_sub_agents_and_incidents_stand_out_too(stage, theme):
    stage.page.emulate_media(color_scheme=theme)
    stage.open(*started(), *helper(TextDelta(turn=1, delta="Hm")), *incidents())

    assert stage.page.locator(".stepsnb-run").evaluate(_CONTRAST) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 620, 1_030])
def test_pictures_of_a_sub_agent_are_taken(stage, theme, width, tmp_path):
    shots = Path(os.environ.get("STEPSNB_SHOTS", tmp_path))
    shots.mkdir(parents=True, exist_ok=True)
    stage.page.emulate_media(color_scheme=theme)
    stage.page.set_viewport_size({"width": width, "height": 900})
    stage.page.add_style_tag(content="body { background: light-dark(#fff, #111418); color-scheme: light dark; }")
    said = TextDelta(turn=1, delta="The outage began when the seventh migration ran twice; since then")
    read = Tool(phase="end", call_id="c2", tool="read_file", args='{"path": "log.txt"}', result="12:00 down", ok=True)
    stage.open(*started(), *helper(read, said), *incidents())

    picture = stage.page.screenshot(path=shots / f"sub-agent-{theme}-{width}.png")

    assert len(picture) > 10_000


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 620, 1_030])
def test_pictures_of_it_are_taken(stage, theme, width, tmp_path):
    shots = Path(os.environ.get("STEPSNB_SHOTS", tmp_path))
    shots.mkdir(parents=True, exist_ok=True)
    stage.page.emulate_media(color_scheme=theme)
    stage.page.set_viewport_size({"width": width, "height": 900})
    stage.page.add_style_tag(content="body { background: light-dark(#fff, #111418); color-scheme: light dark; }")
    stage.run_to_question()

    picture = stage.page.screenshot(path=shots / f"view-{theme}-{width}.png")

    assert len(picture) > 10_000


def test_plan_shows_visits_in_their_place_and_the_transcript_in_the_order_of_time(stage):
    def visit(step_id: str, name: str, index: int) -> list[Event]:
        at = {"step_id": step_id, "at": time.time()}
        return [
            StepStarted(**at, name=name, step_kind="agent", agent=name, model="m", index=index, node=str(index)),
            StepFinished(**at, name=name, step_kind="agent", outcome="succeeded", duration_s=1.0),
        ]

    plan = [PlanNode(name, "agent") for name in ("draft", "editor", "author", "publish")]
    stage.open(RunStarted(run_id="R2", at=time.time(), job="notice", plan=plan))
    stage.tell(
        StepTakenOver(
            step_id="s1", name="draft", step_kind="agent", node="0", from_run="R1", outcome="succeeded", verdict="ok"
        )
    )
    stage.tell(*visit("s2", "editor", 1), *visit("s3", "author", 2), *visit("s4", "editor", 1))
    names = ["draft", "editor", "editor (2)", "author", "publish"]

    expect(stage.page.locator("nav .name")).to_have_text(names)
    expect(stage.page.locator("nav .detail").first).to_have_text("ok · taken over")
    expect(stage.page.locator("section.step:visible").first).to_contain_text("taken over from run R1")
    shown = stage.page.locator("section.step:visible .who").all_inner_texts()
    assert [text.split(" · ")[0].split(" (editor)")[0] for text in shown] == ["draft", "editor", "author", "editor (2)"]
    expect(stage.page.locator("li.pending .name")).to_have_text(["publish"])

import copy
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsnb.events import (
    Artifact,
    ContextUsage,
    Event,
    MessageAdded,
    Note,
    Nudge,
    Output,
    PlanNode,
    Question,
    Request,
    RunFinished,
    RunStarted,
    StepFinished,
    StepSkipped,
    StepStarted,
    TextChunk,
    TextDelta,
    ThinkingDelta,
    Tool,
    TurnFinished,
    TurnStarted,
)
from stepsnb.settings import VIEW_BRIEF_CHARACTERS, VIEW_ITEMS, VIEW_RESULT_CHARACTERS, VIEW_TEXT_CHARACTERS
from stepsnb.view import Fold, apply_patches
from tests.support.sample_run import finished_run, until_question


def fold(*events: Event) -> Fold:
    made = Fold()
    for event in events:
        made.apply(event)
    return made


def agent_step(*events: Event) -> dict:
    """The state of a step `s1` in which these events happened."""
    start = [
        RunStarted(run_id="R1", at=10.0, job="hello", plan=[PlanNode("writer", "agent")]),
        StepStarted(run_id="R1", step_id="s1", at=11.0, name="writer", step_kind="agent", agent="writer", model="m"),
    ]
    for event in events:
        event.step_id = "s1"
    return fold(*start, *events).state["steps"][0]


def items(*events: Event) -> list[dict]:
    return agent_step(*events)["items"]


def notes(*events: Event) -> list[str]:
    return [item["text"] for item in items(*events) if item["kind"] == "note"]


# The run


def test_a_run_that_has_not_started_is_starting():
    assert fold().state["status"] == "starting"


def test_the_plan_is_there_before_any_step_runs():
    plan = [PlanNode("repo", "get"), PlanNode("block", "do"), PlanNode("writer", "agent", parent=1)]

    state = fold(RunStarted(run_id="R1", at=1.0, pipeline="p.yml", job="hello", plan=plan)).state

    assert (state["run_id"], state["job"], state["pipeline"], state["status"]) == ("R1", "hello", "p.yml", "running")
    assert [(s["name"], s["step_kind"], s["parent"], s["status"]) for s in state["steps"]] == [
        ("repo", "get", None, "pending"),
        ("block", "do", None, "pending"),
        ("writer", "agent", 1, "pending"),
    ]


def test_a_finished_run_shows_its_outcome_and_figures():
    state = fold(*finished_run()).state

    assert (state["status"], state["outcome"], state["error"]) == ("succeeded", "succeeded", None)
    assert (state["duration_s"], state["tokens"], state["cached_percent"]) == (185.0, 50_250, 87)
    assert state["cost"] == "$0.022"
    assert [step["status"] for step in state["steps"]] == ["succeeded"] * 4


def test_an_error_is_kept_with_the_outcome():
    state = fold(RunFinished(outcome="errored", error="provider `x`: key refused (401)")).state

    assert (state["status"], state["error"]) == ("errored", "provider `x`: key refused (401)")


def test_a_run_that_ends_marks_what_was_running_as_aborted():
    state = fold(*until_question(began=1.0), RunFinished(outcome="aborted", error="stopped")).state

    assert [step["status"] for step in state["steps"]] == ["succeeded", "succeeded", "aborted", "pending"]
    assert state["steps"][2]["items"][-1]["status"] == "withdrawn"


def test_requests_without_a_price_are_called_unpriced():
    priced = Request(step_id="s1", input_tokens=10, output_tokens=5, cost_usd="0.5")
    unpriced = Request(step_id="s1", input_tokens=10, output_tokens=5)

    assert fold(unpriced).state["cost"] == "unpriced"
    assert fold(priced, unpriced).state["cost"] == "$0.500 + 1 unpriced"
    assert fold(Request(step_id="s1", error="refused")).state["cost"] == ""
    assert fold(Request(step_id="s1", status=200, error="lost")).state["cost"] == "unpriced"


# Its steps


def test_a_step_carries_its_agent_model_and_duration():
    step = agent_step(StepFinished(name="writer", outcome="succeeded", duration_s=3.0, verdict="approve", note="fine"))

    assert (step["agent"], step["model"], step["started_at"]) == ("writer", "m", 11.0)
    assert (step["status"], step["duration_s"], step["verdict"], step["note"]) == (
        "succeeded",
        3.0,
        "approve",
        "fine",
    )


def test_a_skipped_step_and_a_reused_one_differ():
    plan = RunStarted(plan=[PlanNode("a", "task"), PlanNode("b", "task")])

    state = fold(
        plan,
        StepSkipped(name="a", step_kind="task", index=0, reason="its `if:` said no"),
        StepSkipped(name="b", step_kind="task", index=1, reused=True),
    ).state

    assert [(step["status"], step["reason"]) for step in state["steps"]] == [
        ("skipped", "its `if:` said no"),
        ("reused", None),
    ]


def test_a_step_that_is_not_in_the_plan_is_added():
    state = fold(
        RunStarted(plan=[PlanNode("a", "task")]),
        StepStarted(step_id="s1", name="a", step_kind="task", index=0),
        StepStarted(step_id="s2", name="extra", step_kind="agent", index=1, parent_id="s1", coordinates={"dim": "api"}),
    ).state

    assert [(step["name"], step["parent"]) for step in state["steps"]] == [("a", None), ("extra [dim=api]", 0)]


def test_another_attempt_uses_the_same_row_and_says_so():
    started = StepStarted(step_id="s1", name="a", step_kind="task", attempt=2)

    steps = fold(StepStarted(step_id="s1", name="a", step_kind="task"), started).state["steps"]

    assert len(steps) == 1
    assert (steps[0]["attempt"], steps[0]["items"][0]["text"]) == (2, "attempt 2")


def test_a_view_that_joined_late_still_shows_what_it_sees():
    state = fold(TextDelta(run_id="R9", step_id="s4", turn=3, delta="late")).state

    assert (state["run_id"], state["steps"][0]["name"]) == ("R9", "s4")
    assert state["steps"][0]["items"][0]["text"] == "late"


def test_a_step_that_ended_unseen_is_shown_as_ended():
    state = fold(StepFinished(step_id="s4", name="build", outcome="failed", reason="exit code 2")).state

    assert [(step["name"], step["status"], step["reason"]) for step in state["steps"]] == [
        ("build", "failed", "exit code 2")
    ]


def test_files_handed_in_with_the_run_belong_to_no_step():
    assert fold(RunStarted(plan=[]), Artifact(name="files", files=["a"], bytes=1)).state["steps"] == []


def test_context_usage_is_the_conversations_own():
    step = agent_step(ContextUsage(used=52_480, total=128_000, compact_at=102_400))

    assert step["context"] == {"used": 52_480, "total": 128_000, "compact_at": 102_400}


def test_a_wrapped_up_answer_and_another_model_are_noted():
    finished = StepFinished(name="writer", outcome="succeeded", wrapped_up=True, fallback_model="small")

    assert notes(finished) == ["out of turns: this is the last answer, given without tools", "went on with small"]


# What a model says


def test_streamed_pieces_make_one_text_a_turn():
    said = items(
        TurnStarted(turn=1),
        ThinkingDelta(turn=1, delta="hm"),
        TextDelta(turn=1, delta="Hel"),
        TextDelta(turn=1, delta="lo"),
        TurnFinished(turn=1, text="Hello", thinking="hm"),
        TurnStarted(turn=2),
        TextDelta(turn=2, delta="Bye"),
    )

    assert [(item["kind"], item["text"]) for item in said] == [("thinking", "hm"), ("text", "Hello"), ("text", "Bye")]


def test_stored_chunks_of_a_text_that_was_seen_live_are_not_added():
    said = items(TextDelta(turn=1, delta="Hello"), TextChunk(turn=1, text="Hello"), TextDelta(turn=1, delta=" you"))

    assert [item["text"] for item in said] == ["Hello you"]


def test_stored_chunks_show_a_reply_that_was_cut_by_a_crash():
    assert [item["text"] for item in items(TextChunk(turn=1, text="Hel"), TextChunk(turn=1, text="lo"))] == ["Hello"]


def test_the_whole_reply_wins_over_its_pieces():
    said = items(
        TextDelta(turn=1, delta="line\r"), TextDelta(turn=1, delta="\nend"), TurnFinished(turn=1, text="line\r\nend")
    )

    assert [item["text"] for item in said] == ["line\nend"]


def test_a_stored_reply_without_pieces_is_whole():
    said = items(TurnFinished(turn=1, text="Hello", thinking="hm"), TurnFinished(turn=2, text="Bye"))

    assert [item["text"] for item in said] == ["hm", "Hello", "Bye"]


def test_a_reply_of_calls_only_has_no_text():
    assert items(TurnFinished(turn=1, text=None), TurnFinished(turn=2, text="")) == []


def test_a_turn_that_is_tried_again_begins_a_text_of_its_own():
    said = items(
        TurnStarted(turn=1), TextDelta(turn=1, delta="Hel"), TurnStarted(turn=1), TextDelta(turn=1, delta="Hi")
    )

    assert [item["text"] for item in said] == ["Hel", "Hi"]


def test_a_reply_cut_by_the_output_limit_is_noted():
    assert notes(TurnFinished(turn=1, text="and then", finish_reason="length")) == [
        "the reply was cut off by the model's output limit"
    ]


# Tools


def test_a_tool_call_is_one_entry_from_start_to_end():
    args = '{"path": "CHANGELOG.md"}'
    start = Tool(phase="start", call_id="c1", tool="read_file", args=args)

    assert items(start)[0] == {
        "kind": "tool",
        "tool": "read_file",
        "summary": "CHANGELOG.md",
        "args": args,
        "args_cut": 0,
        "result": "",
        "result_cut": 0,
        "facts": "",
        "status": "running",
    }
    end = Tool(phase="end", call_id="c1", tool="read_file", args=args, result="x" * 3_100, duration_s=0.004)
    done = items(start, end)
    assert len(done) == 1
    assert (done[0]["status"], done[0]["facts"], done[0]["result"]) == ("done", "3.1 KB · 4 ms", "x" * 3_100)


def test_progress_of_a_call_shows_on_its_line():
    start = Tool(phase="start", call_id="c1", tool="run_shell")

    assert items(start, Tool(phase="update", call_id="c1", result="12 of 30\n"))[0]["facts"] == "12 of 30"


@pytest.mark.parametrize(
    ("fields", "status", "facts"),
    [
        ({"ok": False}, "failed", "4 bytes"),
        ({"truncated": True}, "done", "4 bytes, cut"),
        ({"spilled_to": "out/1.txt", "truncated": True}, "done", "whole result in out/1.txt"),
        ({"ok": False, "denied_by": "grant"}, "failed", "4 bytes · denied by grant"),
    ],
)
def test_what_happened_to_a_result_is_said(fields, status, facts):
    item = items(Tool(phase="end", call_id="c1", tool="t", result="text", **fields))[0]

    assert (item["status"], item["facts"]) == (status, facts)


def test_a_mended_call_is_noted():
    start = Tool(phase="start", call_id="c1", tool="read_file", repaired=True, promoted=True)

    assert notes(start) == [
        "the provider sent broken arguments for `read_file`; repaired",
        "a call of `read_file` came as plain text; taken as the call it is",
    ]


def test_call_ids_used_again_in_a_later_turn_make_entries_of_their_own():
    call = [Tool(phase="start", call_id="c1", tool="t"), Tool(phase="end", call_id="c1", tool="t", result="a")]

    step = agent_step(*call, *copy.deepcopy(call))

    assert (len(step["items"]), step["tool_calls"]) == (2, 2)


def test_a_call_that_never_ended_is_cut_off_with_its_step():
    item = items(Tool(phase="start", call_id="c1", tool="t"), StepFinished(name="writer", outcome="aborted"))[0]

    assert (item["status"], item["facts"]) == ("failed", "cut off")


# Questions

ASKED = {"question_id": "q1", "agent": "writer", "text": "Which port?", "options": ["A", "B"], "default": "B"}


def test_an_open_question_makes_the_run_wait_for_a_person():
    started = StepStarted(step_id="s1", name="writer", step_kind="agent")

    state = fold(started, Question(step_id="s1", at=5.0, expires_at=305.0, **ASKED)).state

    assert (state["status"], state["steps"][0]["status"], state["steps"][0]["questions"]) == (
        "waiting for you",
        "waiting",
        1,
    )
    assert state["steps"][0]["items"][0] == {
        "kind": "question",
        "id": "q1",
        "agent": "writer",
        "text": "Which port?",
        "options": ["A", "B"],
        "options_required": False,
        "default": "B",
        "expires_at": 305.0,
        "status": "asked",
        "answer": None,
        "by": "",
    }


@pytest.mark.parametrize(
    ("source", "answered_by", "by"),
    [
        ("widget", None, "by a person, after 12 s"),
        ("prompt", None, "by a person at the prompt, after 12 s"),
        ("given", None, "given in advance, after 12 s"),
        ("default", None, "the default; nobody answered, after 12 s"),
        ("agent", "chief", "by chief, after 12 s"),
        ("mailbox", None, "by a person elsewhere, after 12 s"),
    ],
)
def test_an_answer_says_who_gave_it(source, answered_by, by):
    answered = Question(at=17.0, phase="answered", answer="B", source=source, answered_by=answered_by, **ASKED)
    started = StepStarted(step_id="s1", name="writer", step_kind="agent")
    answered.step_id = "s1"

    state = fold(started, Question(step_id="s1", at=5.0, **ASKED), answered).state

    assert state["status"] == "running"
    question = state["steps"][0]["items"][0]
    assert (question["status"], question["answer"], question["by"]) == ("answered", "B", by)


def test_a_question_nobody_answered_is_expired():
    question = items(Question(**ASKED), Question(phase="expired", **ASKED))[0]

    assert (question["status"], question["answer"]) == ("expired", None)


def test_a_question_open_when_its_step_ends_is_withdrawn():
    assert items(Question(**ASKED), StepFinished(name="writer", outcome="aborted"))[0]["status"] == "withdrawn"


def test_the_answer_to_a_shown_option_is_the_option_as_it_was_offered():
    made = fold(Question(step_id="s1", question_id="q1", text="?", options=["left\n or right", "x" * 300]))
    shown = made.state["steps"][0]["items"][0]["options"]

    assert shown[0] == "left or right"
    assert [made.original_answer("q1", option) for option in shown] == ["left\n or right", "x" * 300]
    assert made.original_answer("q1", "my own") == "my own"
    assert made.original_answer("q2", "left or right") == "left or right"


# The rest of a transcript


def test_messages_are_shown_with_their_role():
    said = items(MessageAdded(role="system", text="Be brief."), MessageAdded(role="user", text="Hi"))

    assert [(item["role"], item["text"]) for item in said] == [("system", "Be brief."), ("user", "Hi")]


def test_a_nudge_and_its_message_are_one_note():
    text = "You still owe the file `a.md`."

    assert notes(Nudge(owed=["the file `a.md`"], text=text), MessageAdded(role="user", text=text, synthetic=True)) == [
        "reminded of what it still owes: the file `a.md`"
    ]


def test_another_message_of_ours_is_a_note():
    assert notes(MessageAdded(role="user", text="Answer now.", synthetic=True)) == ["told: Answer now."]


def test_a_failed_request_is_noted():
    assert notes(Request(status=429, error="too many requests"), Request(error="no route to host")) == [
        "request failed (429): too many requests",
        "request failed: no route to host",
    ]


def test_progress_that_only_counts_on_stays_one_line():
    lines = ["fetching weights: 10 of 90 MB", "fetching weights: 60 of 90 MB", "starting the server"]

    assert notes(*(Note(text=line) for line in lines)) == lines[1:]


def test_what_a_command_printed_is_shown_with_its_true_size():
    printed = items(Output(exit_code=2, stdout="a", stderr="b", stdout_bytes=90_000, stderr_bytes=1))[0]

    assert (printed["exit_code"], printed["stdout"], printed["stderr"]) == (2, "a", "b")
    assert printed["facts"] == "90.0 KB, cut"
    assert items(Output(exit_code=0))[0]["facts"] == "printed nothing"


def test_files_are_named_when_there_is_one_and_counted_when_there_are_more():
    one = items(Artifact(name="report", files=["summary.md"], bytes=412))[0]
    more = items(Artifact(name="report", files=["a", "b"], bytes=3_100))[0]

    assert (one["verb"], one["what"], one["facts"]) == ("Wrote", "report/summary.md", "412 bytes")
    assert (more["what"], more["facts"]) == ("report/", "2 files, 3.1 KB")


def test_a_get_step_fetches():
    state = fold(
        StepStarted(step_id="s1", name="repo", step_kind="get"), Artifact(step_id="s1", name="repo", files=["a"])
    ).state

    assert state["steps"][0]["items"][0]["verb"] == "Fetched"


# Foreign text


def test_foreign_text_is_visible_wherever_it_enters():
    esc = "\x1b[2J\u202e"
    state = fold(
        RunStarted(pipeline=esc, job=esc, plan=[PlanNode(esc, "task")]),
        StepStarted(step_id="s1", name=esc, step_kind="agent", agent=esc, model=esc, coordinates={esc: esc}),
        MessageAdded(step_id="s1", role="system", text=esc),
        TurnStarted(step_id="s1", turn=1, model=esc),
        TextDelta(step_id="s1", turn=1, delta=esc),
        ThinkingDelta(step_id="s1", turn=1, delta=esc),
        Tool(step_id="s1", phase="start", call_id="c", tool=esc, args=esc),
        Tool(step_id="s1", phase="end", call_id="c", tool=esc, result=esc, spilled_to=esc, denied_by=esc),
        Question(step_id="s1", question_id="q", agent=esc, text=esc, options=[esc], default=esc),
        Question(step_id="s1", question_id="q", phase="answered", answer=esc, source=esc, answered_by=esc),
        Nudge(step_id="s1", owed=[esc]),
        Note(step_id="s1", text=esc),
        Request(step_id="s1", error=esc),
        Output(step_id="s1", stdout=esc, stderr=esc),
        Artifact(step_id="s1", name=esc, files=[esc]),
        StepFinished(step_id="s1", name=esc, outcome="failed", reason=esc, verdict=esc, note=esc, fallback_model=esc),
        RunFinished(outcome="failed", error=esc),
    ).state

    whole = json.dumps(state, ensure_ascii=False)
    assert "\\u001b" not in whole
    assert "\u202e" not in whole


def test_long_texts_and_results_are_cut_and_counted():
    said = items(
        TurnFinished(turn=1, text="x" * (VIEW_TEXT_CHARACTERS + 5)),
        Tool(phase="end", call_id="c1", tool="t", result="y" * (VIEW_RESULT_CHARACTERS + 7)),
    )

    assert (len(said[0]["text"]), said[0]["cut"]) == (VIEW_TEXT_CHARACTERS, 5)
    assert (len(said[1]["result"]), said[1]["result_cut"]) == (VIEW_RESULT_CHARACTERS, 7)


def test_a_stream_is_cut_where_a_whole_text_would_be():
    pieces = [TextDelta(turn=1, delta="x" * 1_000) for _ in range(VIEW_TEXT_CHARACTERS // 1_000 + 3)]

    said = items(*pieces)[0]

    assert len(said["text"]) == VIEW_TEXT_CHARACTERS
    assert said["cut"] > 0


def test_a_view_that_holds_much_keeps_little_of_what_follows(monkeypatch):
    monkeypatch.setattr("stepsnb.view.writer.VIEW_CHARACTERS", 1_000)

    said = items(TurnFinished(turn=1, text="x" * 2_000), TurnFinished(turn=2, text="y" * 2_000))

    assert [len(item["text"]) for item in said] == [2_000, VIEW_BRIEF_CHARACTERS]


def test_a_full_view_says_so_once_and_still_shows_questions(monkeypatch):
    monkeypatch.setattr("stepsnb.view.writer.VIEW_ITEMS", 3)
    calls = [Tool(phase=phase, call_id=f"c{i}", tool="t") for i in range(9) for phase in ("start", "end")]

    said = items(*calls, Question(**ASKED))

    assert [item["kind"] for item in said] == ["tool", "tool", "tool", "note", "question"]
    assert said[3]["text"] == "this view is full; the run goes on and its whole transcript is stored"


# Patches


def _random_events() -> st.SearchStrategy[Event]:
    step = st.sampled_from(["s1", "s2"])
    text = st.text(st.characters(codec="utf-8"), max_size=12)
    turn = st.integers(1, 3)
    call = st.sampled_from(["c1", "c2"])
    phase = st.sampled_from(["start", "update", "end"])
    return st.one_of(
        st.builds(StepStarted, step_id=step, name=step, step_kind=st.just("agent"), index=st.integers(0, 2)),
        st.builds(TurnStarted, step_id=step, turn=turn),
        st.builds(TextDelta, step_id=step, turn=turn, delta=text),
        st.builds(ThinkingDelta, step_id=step, turn=turn, delta=text),
        st.builds(TextChunk, step_id=step, turn=turn, text=text),
        st.builds(TurnFinished, step_id=step, turn=turn, text=st.none() | text, thinking=text),
        st.builds(Tool, step_id=step, phase=phase, call_id=call, tool=text, args=text, result=text),
        st.builds(Request, step_id=step, input_tokens=st.integers(0, 9), cost_usd=st.none() | st.just("0.25")),
        st.builds(ContextUsage, step_id=step, used=st.integers(0, 9), total=st.none() | st.just(9)),
        st.builds(
            Question,
            step_id=step,
            question_id=call,
            phase=st.sampled_from(["asked", "answered", "expired"]),
            text=text,
            answer=text,
        ),
        st.builds(Note, step_id=step, text=text),
        st.builds(StepSkipped, name=step, index=st.integers(0, 2)),
        st.builds(StepFinished, step_id=step, name=step, outcome=st.just("failed"), reason=text),
        st.builds(RunStarted, job=text, plan=st.just([PlanNode("s1", "agent"), PlanNode("s2", "agent")])),
        st.builds(RunFinished, outcome=st.just("failed"), error=text),
    )


@settings(max_examples=150, deadline=None)
@given(events=st.lists(st.tuples(_random_events(), st.booleans()), max_size=50))
def test_the_state_always_equals_the_patches_applied_to_the_state_before(events):
    made = Fold()
    twin = made.state

    for event, is_taken in events:
        made.apply(event)
        if is_taken:
            apply_patches(twin, json.loads(json.dumps(made.take_patches())))
            assert twin == made.state

    apply_patches(twin, made.take_patches())
    assert twin == made.state


@pytest.mark.parametrize("batch", [1, 10])
def test_two_thousand_deltas_cost_less_than_150_kb(batch):
    made = fold(StepStarted(step_id="s1", name="writer", step_kind="agent"), TurnStarted(step_id="s1", turn=1))
    made.take_patches()

    size = 0
    for i in range(2_000):
        made.apply(TextDelta(step_id="s1", turn=1, delta="word "))
        if i % batch == batch - 1:
            size += len(json.dumps(made.take_patches(), separators=(",", ":")))
    made.apply(TurnFinished(step_id="s1", turn=1, text="word " * 2_000))
    size += len(json.dumps(made.take_patches()))

    assert size < 150_000


def test_thousands_of_events_fold_in_time_and_stay_bounded():
    made = Fold()
    for i in range(VIEW_ITEMS + 100):
        made.apply(Tool(step_id="s1", phase="start", call_id=f"c{i}", tool="t", args="{}"))
        made.apply(Tool(step_id="s1", phase="end", call_id=f"c{i}", tool="t", result="ok"))

    assert len(made.state["steps"][0]["items"]) == VIEW_ITEMS + 1


def test_a_snapshot_and_later_patches_count_nothing_twice():
    made = fold(*until_question(began=1.0))
    patches, state = made.take_snapshot()
    made.apply(TextDelta(run_id="K7QP2X", step_id="s3", turn=3, delta="more"))

    assert patches
    apply_patches(state, made.take_patches())
    assert state == made.state


def test_the_state_handed_out_is_the_callers_own():
    made = fold(*until_question(began=1.0))

    made.state["steps"].clear()

    assert len(made.state["steps"]) == 4


def test_events_and_takes_may_come_from_different_threads():
    made = Fold()
    twin = made.state
    taken: list[dict] = []
    is_done = threading.Event()

    def take() -> None:
        while not is_done.is_set():
            taken.extend(made.take_patches())

    thread = threading.Thread(target=take)
    thread.start()
    for _ in range(2_000):
        made.apply(TextDelta(step_id="s1", turn=1, delta="word "))
    is_done.set()
    thread.join()

    apply_patches(twin, [*taken, *made.take_patches()])
    assert twin == made.state

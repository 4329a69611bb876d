import copy
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsnb.events import (
    Artifact,
    Compaction,
    CompactionBudget,
    ContextTruncated,
    ContextUsage,
    Event,
    LoopWarning,
    MessageAdded,
    Note,
    Nudge,
    Output,
    PlanNode,
    Question,
    Request,
    Retry,
    RunFinished,
    RunResumed,
    RunStarted,
    StepFinished,
    StepSkipped,
    StepStarted,
    StoredCall,
    TextChunk,
    TextDelta,
    ThinkingDelta,
    Tool,
    TurnFinished,
    TurnStarted,
)
from stepsnb.messages import Mark
from stepsnb.settings import (
    SUB_AGENT_DEPTH,
    VIEW_BRIEF_CHARACTERS,
    VIEW_ITEMS,
    VIEW_RESULT_CHARACTERS,
    VIEW_TEXT_CHARACTERS,
)
from stepsnb.view import Fold, apply_patches
from tests.support.recorded import delegation, stamp
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


def test_a_run_that_goes_on_has_no_outcome_any_more():
    ended = [RunStarted(plan=[PlanNode(name="a", step_kind="task")]), RunFinished(outcome="failed", error="why")]
    state = fold(*ended, RunResumed()).state
    assert (state["status"], state["outcome"], state["error"]) == ("running", None, None)


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
        StepStarted(step_id="s2", name="extra", step_kind="agent", index=1, parent_id="s1"),
    ).state

    assert [(step["name"], step["parent"]) for step in state["steps"]] == [("a", None), ("extra", 0)]


def test_cell_of_a_matrix_is_named_as_it_was_recorded():
    cell = StepStarted(step_id="s1", name="extra [dim=api]", step_kind="agent", coordinates={"dim": "api"})

    assert fold(cell).state["steps"][0]["name"] == "extra [dim=api]"


def test_what_is_said_about_the_whole_run_ends_as_the_run_does():
    state = fold(Note(text="an answer was not used"), RunFinished(outcome="succeeded")).state

    assert [(step["name"], step["status"]) for step in state["steps"]] == [("run", "succeeded")]


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
        "inside": [],
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
        ({"ok": False, "code": "deadline_exceeded"}, "failed", "4 bytes · deadline_exceeded"),
        ({"repaired": True, "promoted": True}, "done", "4 bytes · repaired · promoted"),
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
        "takes_reason": False,
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


# What went wrong, and what was done about it


@pytest.mark.parametrize(
    ("marks", "shown"),
    [
        ([Mark.LOST], ["the reply announced a tool call that was not there"]),
        ([Mark.TRUNCATED], ["the reply was cut off by the model's output limit"]),
        ([Mark.DROPPED], ["the connection was lost in the middle of the reply"]),
        ([Mark.EMPTY], ["the reply had neither text nor a tool call"]),
        ([Mark.NO_USAGE, Mark.NO_FINISH_REASON, Mark.IDS_REPLACED, Mark.REPAIRED], []),
        (["something new"], []),
    ],
)
def test_what_was_wrong_with_a_reply_is_noted_where_a_person_would_miss_it(marks, shown):
    assert notes(TurnFinished(turn=1, text="a", marks=marks)) == shown


def test_a_reply_cut_by_the_output_limit_is_noted_once():
    cut = TurnFinished(turn=1, text="and then", finish_reason="length", marks=["truncated"])

    assert notes(cut) == ["the reply was cut off by the model's output limit"]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        (
            {"attempt": 2, "max_attempts": 3, "wait_s": 1.5, "reason": "too many requests"},
            "the request is tried again in 1.5 s (2 of 3)",
        ),
        (
            {"effect": "tool", "attempt": 2, "max_attempts": 2, "reason": "no route"},
            "the call is tried again (2 of 2): no route",
        ),
        ({"effect": "subagent"}, "the sub-agent is tried again"),
        (
            {"retry_kind": "dropped", "attempt": 1, "max_attempts": 10, "reason": "reset"},
            "asked to go on where the reply broke off (1 of 10): reset",
        ),
        ({"retry_kind": "length"}, "asked to go on where the output limit cut it off"),
        ({"retry_kind": "lost-call"}, "asked to make the call it announced"),
    ],
)
def test_a_retry_says_what_is_tried_again_and_why(fields, shown):
    assert notes(Retry(**fields)) == [shown]


def test_a_compaction_is_one_note_from_start_to_end_with_its_summary():
    start, end = Compaction(before=52_000), Compaction(phase="end", before=52_000, after=9_000, summary="So far.")

    assert notes(start) == ["summarising 52,000 tokens…"]
    done = items(start, end)
    assert [(item["kind"], item.get("tone"), item["text"]) for item in done] == [
        ("note", "mended", "summarised the conversation: 52,000 → 9,000 tokens"),
        ("message", None, "So far."),
    ]


def test_a_compaction_that_failed_says_why():
    start, end = Compaction(before=52_000), Compaction(phase="end", before=52_000, error="no model")

    assert [(item["tone"], item["text"]) for item in items(start, end)] == [
        ("problem", "could not summarise the conversation: no model")
    ]


def test_a_loop_warning_and_its_message_are_one_note():
    warning = LoopWarning(tool="read_file", count=6, text="Stop.")

    assert notes(warning, MessageAdded(text="Stop.", synthetic=True)) == [
        "called `read_file` 6 times with the same result; told so"
    ]


def test_a_deadline_is_told_in_its_own_words():
    assert notes(Nudge(about="deadline", text="1 minute left.")) == [
        "told that its time is running out: 1 minute left."
    ]


def test_a_conversation_cut_by_the_server_is_noted_and_warned_of_at_the_gauge():
    step = agent_step(ContextTruncated(turn=1, sent=9_000, reported=4_000))

    said = "the server read 4,000 of about 9,000 tokens: it cut the conversation without saying so"
    assert (step["items"][0]["text"], step["context_warning"]) == (said, said)
    assert agent_step(ContextUsage(used=1))["context_warning"] is None


def test_the_gauge_knows_where_compaction_strikes_from_either_event():
    budget, usage = CompactionBudget(compact_at=80, window=100), ContextUsage(used=10, total=100)

    assert agent_step(budget, usage)["context"] == {"used": 10, "total": 100, "compact_at": 80}
    assert agent_step(usage, budget)["context"] == {"used": 10, "total": 100, "compact_at": 80}
    own = ContextUsage(used=10, total=100, compact_at=60)
    assert agent_step(budget, own)["context"] == {"used": 10, "total": 100, "compact_at": 60}
    assert agent_step(budget)["context"] is None


def test_a_compaction_moves_the_gauge_back():
    end = Compaction(phase="end", before=90, after=20)

    assert agent_step(ContextUsage(used=90, total=100), end)["context"]["used"] == 20


def test_calls_that_no_model_made_are_said_to_be_and_not_counted():
    given = TurnFinished(turn=0, synthetic=True, tool_calls=[StoredCall("o1", "read_file", "{}")])

    step = agent_step(given, Tool(phase="end", call_id="o1", tool="read_file", result="text"))

    assert (step["tool_calls"], step["items"][0]["facts"]) == (0, "4 bytes · read beforehand")


# Sub-agents

ASK = {"step_id": "s1", "call_id": "c1", "tool": "helper"}


def helper(*events: Event, step_id: str = "s1.1", **fields: object) -> list[Event]:
    """A sub-agent that answers the call `c1` of the step `s1`."""
    for event in events:
        event.step_id = step_id
    started = {"name": "helper", "step_kind": "sub_agent", "agent": "helper", "parent_id": "s1", "call_id": "c1"}
    return [StepStarted(step_id=step_id, **{**started, **fields}), *events]


def asking(*events: Event) -> dict:
    """The state of a run whose step `s1` has called the sub-agent."""
    started = StepStarted(step_id="s1", name="writer", step_kind="agent", agent="writer")
    return fold(RunStarted(plan=[PlanNode("writer", "agent")]), started, Tool(**ASK, phase="start"), *events).state


def test_a_sub_agents_conversation_is_inside_the_call_it_answers_and_not_in_the_plan():
    state = asking(*helper(TextDelta(turn=1, delta="Hm")), Tool(**ASK, phase="end", result="Hm"))

    assert len(state["steps"]) == 1
    (call,) = state["steps"][0]["items"]
    (conversation,) = call["inside"]
    assert (conversation["kind"], conversation["name"], conversation["asked_by"], conversation["status"]) == (
        "sub_agent",
        "helper",
        "writer",
        "running",
    )
    assert conversation["items"] == [{"kind": "text", "text": "Hm", "cut": 0}]
    assert call["result"] == "Hm"


def test_what_a_sub_agent_uses_is_its_own_and_part_of_its_step_and_run():
    used = Request(input_tokens=100, output_tokens=20, cost_usd="0.5")

    state = asking(*helper(used, ContextUsage(used=120, total=8_000)))

    step = state["steps"][0]
    assert step["items"][0]["inside"][0]["usage"] == "120 tokens · $0.500 · context 120 of 8,000"
    assert (step["tokens"], step["cost"], step["context"]) == (120, "$0.500", None)
    assert (state["tokens"], state["cost"]) == (120, "$0.500")


def test_calls_of_one_reply_may_each_have_a_sub_agent_at_work():
    other = {**ASK, "call_id": "c2"}

    state = asking(
        Tool(**other, phase="start"),
        *helper(TextDelta(turn=1, delta="one")),
        *helper(TextDelta(turn=1, delta="two"), step_id="s1.2", call_id="c2"),
        TextDelta(step_id="s1.1", turn=1, delta=" and"),
    )

    calls = state["steps"][0]["items"]
    assert [call["inside"][0]["items"][0]["text"] for call in calls] == ["one and", "two"]


def test_a_question_of_a_sub_agent_makes_the_step_and_run_wait():
    asked = Question(question_id="q1", text="Which?")

    state = asking(*helper(asked))

    conversation = state["steps"][0]["items"][0]["inside"][0]
    assert (state["status"], state["steps"][0]["status"], conversation["status"]) == (
        "waiting for you",
        "waiting",
        "waiting",
    )
    answered = Question(step_id="s1.1", question_id="q1", phase="answered", answer="this")
    state = asking(*helper(asked), answered)
    assert (state["status"], state["steps"][0]["status"]) == ("running", "running")


def test_a_sub_agent_that_was_still_at_work_ends_with_its_step():
    state = asking(*helper(), StepFinished(step_id="s1", name="writer", outcome="failed"))

    assert state["steps"][0]["items"][0]["inside"][0]["status"] == "aborted"


@pytest.mark.parametrize("call_id", [None, "gone"])
def test_a_sub_agent_whose_call_was_not_seen_stands_in_its_step(call_id):
    state = asking(*helper(call_id=call_id))

    assert [item["kind"] for item in state["steps"][0]["items"]] == ["tool", "sub_agent"]


def test_a_view_that_joined_late_places_a_sub_agent_below_a_step_it_has_not_seen():
    state = fold(*helper(TextDelta(turn=1, delta="late"))).state

    assert [(step["name"], step["items"][0]["kind"]) for step in state["steps"]] == [("s1", "sub_agent")]


def test_sub_agents_nest_as_deep_as_agents_may_call_each_other():
    deep: list[Event] = []
    for depth in range(SUB_AGENT_DEPTH + 4):
        deep += helper(step_id=f"d{depth}", parent_id=f"d{depth - 1}" if depth else "s1", call_id=None)

    items, depth = asking(*deep)["steps"][0]["items"][1:], 0
    while items:
        items, depth = items[0]["items"], depth + 1
    assert depth == SUB_AGENT_DEPTH


def test_a_full_view_still_shows_a_sub_agents_question(monkeypatch):
    monkeypatch.setattr("stepsnb.view.writer.VIEW_ITEMS", 0)

    state = asking(*helper(Question(question_id="q1", text="Which?")))

    assert [item["kind"] for item in state["steps"][0]["items"]] == ["note", "sub_agent"]
    assert state["steps"][0]["items"][1]["items"][0]["kind"] == "question"


def test_the_answer_to_a_sub_agents_option_is_the_option_as_it_was_offered():
    made = fold(*helper(Question(question_id="q1", text="?", options=["left\n or right"])))

    assert made.original_answer("q1", "left or right") == "left\n or right"


def test_a_typed_output_is_shown_laid_out_and_cut():
    step = agent_step(StepFinished(name="writer", outcome="succeeded", output='{"a":1}'))
    long = agent_step(StepFinished(name="writer", output='"' + "x" * VIEW_RESULT_CHARACTERS + '"'))

    assert (step["output"], step["output_cut"]) == ('{"a": 1}', 0)
    assert long["output_cut"] == 2


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
        Nudge(step_id="s1", about="deadline", text=esc),
        Retry(step_id="s1", effect=esc, reason=esc),
        Compaction(step_id="s1", phase="end", summary=esc),
        Compaction(step_id="s1", phase="end", error=esc),
        LoopWarning(step_id="s1", tool=esc),
        StepStarted(step_id="s2", parent_id="s1", name=esc, step_kind="sub_agent", agent=esc, model=esc),
        StepFinished(step_id="s2", outcome="failed", output=esc, reason=esc),
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
    step = st.sampled_from(["s1", "s2", "s3", "s4"])
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
        st.builds(Retry, step_id=step, reason=text),
        st.builds(Compaction, step_id=step, phase=st.sampled_from(["start", "end"]), after=st.none() | st.just(5)),
        st.builds(CompactionBudget, step_id=step, compact_at=st.none() | st.just(7)),
        st.builds(ContextTruncated, step_id=step),
        st.builds(
            StepStarted,
            step_id=st.sampled_from(["s3", "s4"]),
            name=text,
            step_kind=st.just("sub_agent"),
            parent_id=st.sampled_from(["s1", "s3", "s4"]),
            call_id=st.none() | call,
        ),
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


def test_two_thousand_deltas_of_a_sub_agent_cost_as_little():
    made = fold(StepStarted(step_id="s1", name="w", step_kind="agent"), Tool(**ASK, phase="start"), *helper())
    made.take_patches()

    size = 0
    for _ in range(200):
        for _ in range(10):
            made.apply(TextDelta(step_id="s1.1", turn=1, delta="word "))
        size += len(json.dumps(made.take_patches(), separators=(",", ":")))

    assert size < 50_000


def test_a_whole_recorded_run_folds_to_the_same_state_in_patches():
    made = Fold()
    twin = made.state

    for event in stamp("R1", delegation()):
        made.apply(event)
        apply_patches(twin, json.loads(json.dumps(made.take_patches())))

    assert twin == made.state


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

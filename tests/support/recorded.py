"""Runs as a recorder leaves them in a store: stamped events, appended to a spool."""

from collections.abc import Iterable
from pathlib import Path

from stepsnb.events import (
    Compaction,
    ContextTruncated,
    Event,
    LoopWarning,
    MessageAdded,
    Nudge,
    Question,
    Request,
    Retry,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    StoredCall,
    Tool,
    TurnFinished,
    encode_event,
)
from stepsnb.store import open_spool

BEGAN = 1_760_000_000.0


def stamp(run_id: str, events: Iterable[Event], *, first_seq: int = 0, began: float = BEGAN) -> list[Event]:
    """Give events what a recorder gives them: the run, a number, and a time a second after the one before."""
    stamped = list(events)
    for seq, event in enumerate(stamped, first_seq):
        event.run_id, event.seq, event.at = run_id, seq, began + seq
    return stamped


def conversation(*, turns: int = 2, outcome: str | None = "succeeded") -> list[Event]:
    """One agent step that calls a tool in each turn and then answers; without an outcome it is still at work."""
    step = {"step_id": "s1"}
    events: list[Event] = [
        RunStarted(pipeline="tides.yml", job="hello"),
        StepStarted(**step, name="write", step_kind="agent", agent="writer", model="m/large"),
        MessageAdded(**step, role="system", text="You write."),
        MessageAdded(**step, text="Write about tides."),
    ]
    for turn in range(1, turns + 2):
        call = StoredCall(id=f"c{turn}", name="add", arguments='{"a": 1}')
        is_last = turn == turns + 1
        events.append(priced(turn))
        events.append(
            TurnFinished(
                **step,
                turn=turn,
                model="m/large",
                finish_reason="stop" if is_last else "tool_calls",
                text="High tide." if is_last else None,
                tool_calls=[] if is_last else [call],
            )
        )
        if not is_last:
            tool = {**step, "turn": turn, "call_id": call.id, "tool": "add", "args": call.arguments}
            events.append(Tool(**tool, phase="start"))
            events.append(Tool(**tool, phase="end", result="2", duration_s=0.5))
    if outcome is not None:
        events.append(
            StepFinished(
                **step, name="write", step_kind="agent", outcome=outcome, duration_s=4.0, response="High tide."
            )
        )
        events.append(RunFinished(outcome=outcome, duration_s=5.0))
    return events


def priced(turn: int = 1, *, cost_usd: str | None = "0.0142", **fields: object) -> Request:
    """A model request as handed case H08 has it: 12,000 tokens read, 9,000 of them from the cache."""
    return Request(
        **{
            "step_id": "s1",
            "turn": turn,
            "model": "m/large",
            "status": 200,
            "input_tokens": 3_000,
            "cached_input_tokens": 9_000,
            "output_tokens": 800,
            "reasoning_tokens": 600,
            "cost_usd": cost_usd,
            "price_source": None if cost_usd is None else "pipeline",
            "latency_s": 0.25,
            **fields,
        }
    )


def delegation(*, child_ends: bool = True) -> list[Event]:
    """A writer that is given a file, asks a sub-agent, reads another file beside it, and answers.

    On the way a request is tried again, the sub-agent repeats a call, and the conversation is summarised.
    """
    writer, child = {"step_id": "s1"}, {"step_id": "s1.1"}
    ask = StoredCall(id="c1", name="summarizer", arguments='{"request": "sum up"}')
    read = StoredCall(id="c2", name="read_file", arguments='{"path": "b.md"}')
    given = StoredCall(id="opening_1", name="read_file", arguments='{"path": "a.md"}')
    asked = {**writer, "turn": 1, "call_id": "c1", "tool": "summarizer", "args": ask.arguments}
    before: list[Event] = [
        RunStarted(pipeline="tides.yml", job="hello"),
        StepStarted(**writer, name="write", step_kind="agent", agent="writer", model="m/large"),
        MessageAdded(**writer, role="system", text="You write."),
        MessageAdded(**writer, text="Write about tides."),
        TurnFinished(**writer, turn=0, tool_calls=[given], synthetic=True),
        Tool(**writer, phase="end", call_id=given.id, tool=given.name, args=given.arguments, result="given"),
        Request(**writer, turn=1, model="m/large", status=429, error="too many requests"),
        Retry(**writer, turn=1, attempt=2, max_attempts=3, reason="too many requests", wait_s=2.0),
        priced(1, attempt=2),
        TurnFinished(**writer, turn=1, model="m/large", tool_calls=[ask, read], marks=["repaired", "no_usage"]),
        Tool(**asked, phase="start", repaired=True),
        StepStarted(
            **child,
            name="summarizer",
            step_kind="sub_agent",
            agent="summarizer",
            model="m/small",
            parent_id="s1",
            call_id="c1",
        ),
        MessageAdded(**child, text="sum up"),
        priced(1, **child, model="m/small"),
        TurnFinished(**child, turn=1, model="m/small", tool_calls=[read]),
        Tool(**child, turn=1, phase="end", call_id="c2", tool="read_file", args="{}", ok=False, code="provider_error"),
        LoopWarning(**child, turn=1, tool="read_file", count=6, text="It will not change."),
        Tool(**writer, turn=1, phase="end", call_id="c2", tool="read_file", args=read.arguments, result="b"),
    ]
    if not child_ends:
        return before
    return [
        *before,
        TurnFinished(**child, turn=2, model="m/small", text="In short.", finish_reason="length"),
        StepFinished(**child, name="summarizer", step_kind="sub_agent", outcome="succeeded", response="In short."),
        Tool(**asked, phase="end", result="In short.", repaired=True, duration_s=2.0),
        Compaction(**writer, turn=1, before=100_000),
        Compaction(**writer, turn=1, phase="end", before=100_000, after=9_000, kept=2, summary="Tides so far."),
        ContextTruncated(**writer, turn=2, sent=9_000, reported=4_000),
        Nudge(**writer, owed=["the file `a.md`"], text="You still owe a.md."),
        TurnFinished(**writer, turn=2, model="m/large", text="High tide."),
        StepFinished(
            **writer, name="write", step_kind="agent", outcome="succeeded", verdict="done", output='{"tide": "high"}'
        ),
        RunFinished(outcome="succeeded", duration_s=5.0),
    ]


def question(phase: str, **fields: object) -> Question:
    """A question of the writer's, as asked or as answered."""
    return Question(
        **{
            "step_id": "s1",
            "phase": phase,
            "question_id": "q1",
            "agent": "writer",
            "text": "Which port?",
            "options": ["A", "B"],
            **fields,
        }
    )


def record(root: Path, run_id: str, events: Iterable[Event], **stamps: float) -> list[Event]:
    """Append a run's events to this process's spool in the store `root`."""
    stamped = stamp(run_id, events, **stamps)
    spool = open_spool(root)
    for event in stamped:
        spool.append(encode_event(event))
    return stamped

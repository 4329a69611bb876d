"""Runs as a recorder leaves them in a store: stamped events, appended to a spool."""

from collections.abc import Iterable
from pathlib import Path

from stepsnb.events import (
    Event,
    MessageAdded,
    Question,
    Request,
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

"""What went wrong in a conversation and what was done about it, each as one line with its tone.

The tone is `problem`, `mended` (it went wrong and goes on) or `info`.
"""

from typing import NamedTuple

from ..events import Compaction, ContextTruncated, Failover, LoopWarning, Nudge, Retry, TurnFinished
from ..messages import Mark
from ..visible import one_line
from .words import duration_words

_NAME_CHARACTERS = 200

_EFFECTS = {"llm": "the request", "tool": "the call", "subagent": "the sub-agent", "connector": "the connector"}

_CONTINUED = {
    "dropped": "asked to go on where the reply broke off",
    "recovery": "asked to go on where the reply broke off",
    "length": "asked to go on where the output limit cut it off",
    "lost-call": "asked to make the call it announced",
    "empty": "asked again after an empty reply",
}

_MARKED = {
    Mark.LOST: "the reply announced a tool call that was not there",
    Mark.TRUNCATED: "the reply was cut off by the model's output limit",
    Mark.DROPPED: "the connection was lost in the middle of the reply",
    Mark.EMPTY: "the reply had neither text nor a tool call",
}


class Incident(NamedTuple):
    """One line, and its tone."""

    text: str
    tone: str


def reply_incidents(event: TurnFinished) -> list[Incident]:
    """Say what was wrong with a reply; what was wrong with its calls stands beside them."""
    marks = set(event.marks)
    if event.finish_reason == "length":
        marks.add(Mark.TRUNCATED)
    return [Incident(text, "problem") for mark, text in _MARKED.items() if mark in marks]


def retry_incident(event: Retry) -> Incident:
    """Say what is tried again, for the how-many-th time, and why; a request's failure has a line of its own."""
    why = f": {event.reason}" if event.reason and (event.effect, event.retry_kind) != ("llm", "replay") else ""
    if event.retry_kind == "replay":
        what = f"{_EFFECTS.get(event.effect, event.effect)} is tried again"
        if event.wait_s > 0:
            what += f" in {duration_words(event.wait_s)}"
    else:
        what = _CONTINUED.get(event.retry_kind, f"tried again ({event.retry_kind})")
    count = f" ({event.attempt} of {event.max_attempts})" if event.max_attempts else ""
    return Incident(f"{what}{count}{why}", "mended")


def compaction_incident(event: Compaction) -> Incident:
    """Say that a conversation is being summarised, how much that saved, or why it could not be."""
    if event.error is not None:
        return Incident(f"could not summarise the conversation: {event.error}", "problem")
    if event.phase == "start":
        return Incident(f"summarising {event.before:,} tokens…", "info")
    after = "" if event.after is None else f" → {event.after:,}"
    return Incident(f"summarised the conversation: {event.before:,}{after} tokens", "mended")


def failover_incident(event: Failover) -> Incident:
    """Say which model the conversation goes on with."""
    return Incident(f"{event.from_model} is down, so {event.to_model} goes on with the conversation", "mended")


def loop_incident(event: LoopWarning) -> Incident:
    """Say which call the model repeats."""
    tool = one_line(event.tool, _NAME_CHARACTERS)
    return Incident(f"called `{tool}` {event.count:,} times with the same result; told so", "mended")


def nudge_incident(event: Nudge) -> Incident:
    """Say what the model was reminded of."""
    if event.about == "deadline":
        return Incident(f"told that its time is running out: {event.text}", "mended")
    return Incident(f"reminded of what it still owes: {', '.join(event.owed) or event.text}", "mended")


def truncation_incident(event: ContextTruncated) -> Incident:
    """Say how much of the conversation the server read."""
    return Incident(
        f"the server read {event.reported:,} of about {event.sent:,} tokens: it cut the conversation without saying so",
        "problem",
    )

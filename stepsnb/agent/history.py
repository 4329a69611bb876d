"""Histories of a conversation: made fit to be sent, taken apart into what belongs together, built from a record.

Every provider refuses a tool result without its call and a call without its result, so a conversation that was
interrupted between the two is mended before it goes on.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..events import Compaction, Event, MessageAdded, Tool, TurnFinished
from ..messages import Message, ToolCall, tool_result
from .summary import compacted

INTERRUPTED = "interrupted: this call was cut off before it had a result; it may have run, in part or as a whole"
"""The result of a call that has none."""


def sendable(history: Sequence[Message]) -> list[Message]:
    """Give every tool call exactly one result, in the order of the calls, right behind the reply that made them.

    A result that stands elsewhere is moved there, the first one counts, one without a call is dropped, and a missing
    one says `INTERRUPTED`. System messages come first. The messages themselves are never changed or copied.
    """
    results = _results_by_reply(history)
    mended = [message for message in history if message.role == "system"]
    for place, message in enumerate(history):
        if message.role in ("system", "tool"):
            continue
        mended.append(message)
        found = results[place]
        mended += [found.get(n) or tool_result(call, INTERRUPTED) for n, call in enumerate(message.tool_calls)]
    return mended


def _results_by_reply(history: Sequence[Message]) -> dict[int, dict[int, Message]]:
    """Return, for each reply by its place, the results by the number of their call in it.

    Ids may come again in later replies: a result belongs to the last call before it that has its id and no result.
    """
    results: dict[int, dict[int, Message]] = defaultdict(dict)
    waiting: dict[str, list[tuple[int, int]]] = {}
    for place, message in enumerate(history):
        if message.tool_calls:
            made: dict[str, list[tuple[int, int]]] = defaultdict(list)
            for n, call in enumerate(message.tool_calls):
                made[call.id].append((place, n))
            waiting.update(made)
        elif message.role == "tool" and (places := waiting.get(message.tool_call_id or "")):
            reply, n = places.pop(0)
            results[reply][n] = message
    return results


def groups(history: Sequence[Message]) -> list[list[Message]]:
    """Take a history apart into what cannot be separated: one message each, or a reply with the results of its calls.

    Put together again, the groups are the history.
    """
    grouped: list[list[Message]] = []
    for message in history:
        if message.role == "tool" and grouped:
            grouped[-1].append(message)
        else:
            grouped.append([message])
    return grouped


def rebuild_history(events: Iterable[Event]) -> list[Message]:
    """Build the history a conversation had from its stored events, given in order and of one step only.

    A call without a result in the record stays without one; `sendable` completes it. Results are as long as the
    record keeps them.
    """
    history: list[Message] = []
    for event in events:
        match event:
            case MessageAdded():
                history.append(Message(role=event.role, content=event.text, synthetic=event.synthetic))
            case TurnFinished() if event.tool_calls or (event.text or "").strip():
                calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in event.tool_calls)
                history.append(Message(role="assistant", content=event.text, thinking=event.thinking, tool_calls=calls))
            case Tool(phase="end"):
                _add_result(history, event)
            case Compaction(phase="end", summary=str() as summary):
                whole = sendable(history)
                history = compacted(whole, summary, whole[max(len(whole) - event.kept, 0) :])
            case _:
                pass
    return history


def _add_result(history: list[Message], end: Tool) -> None:
    """Add a result behind the last reply, in the order of its calls: those that ran together ended in any order."""
    start = next((n for n in range(len(history) - 1, -1, -1) if history[n].role != "tool"), None)
    if start is None:
        return
    order = {call.id: n for n, call in enumerate(history[start].tool_calls)}
    taken = {message.tool_call_id for message in history[start + 1 :]}
    if end.call_id not in order or end.call_id in taken:
        return
    call = history[start].tool_calls[order[end.call_id]]
    history[start + 1 :] = sorted(
        [*history[start + 1 :], tool_result(call, end.result)], key=lambda message: order[message.tool_call_id or ""]
    )

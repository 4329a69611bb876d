"""A summary as part of a history: how one is put there, and how it is found again."""

from collections.abc import Sequence

from ..messages import Message, user

_HEAD = "What came before in this conversation was summarised to make room. The summary:\n<conversation_summary>\n"
_TAIL = "\n</conversation_summary>"


def summary_message(summary: str) -> Message:
    """Build the user message that stands in for what was summarised."""
    return user(f"{_HEAD}{summary}{_TAIL}", synthetic=True)


def is_summary(message: Message) -> bool:
    """Whether a message is one that `summary_message` built; one that only speaks of a summary is not."""
    text = message.content or ""
    return message.role == "user" and text.startswith(_HEAD) and text.endswith(_TAIL)


def summary_of(history: Sequence[Message]) -> str | None:
    """Return the summary a history begins with, None when it was never summarised."""
    first = next((message for message in history if message.role != "system"), None)
    if first is None or not is_summary(first):
        return None
    return (first.content or "")[len(_HEAD) : -len(_TAIL)]


def compacted(history: Sequence[Message], summary: str, recent: Sequence[Message]) -> list[Message]:
    """Put `summary` in the place of everything but the system message and `recent`, the last messages of `history`.

    The last message of the user is kept word by word: where it is not among the recent ones, it follows the summary.
    Reminders and other messages of ours are not the user's.
    """
    start = len(history) - len(recent)
    last_user = max((n for n, m in enumerate(history) if m.role == "user" and not m.synthetic), default=-1)
    carried = [history[last_user]] if 0 <= last_user < start else []
    system = [message for message in history[:start] if message.role == "system"]
    return [*system, summary_message(summary), *carried, *recent]

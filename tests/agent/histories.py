"""Histories for the tests of what mends, shortens and rebuilds them, right and wrong ones."""

from typing import Any

from hypothesis import strategies as st

from stepsnb.events import Event, MessageAdded, StoredCall, Tool, TurnFinished
from stepsnb.messages import Message, ToolCall, system, tool_result, user

SYSTEM = system("You sort logs.")


def call(id: str, name: str = "read_file", arguments: str = "{}") -> ToolCall:
    """Build a call."""
    return ToolCall(id, name, arguments)


def says(text: str | None = None, *calls: ToolCall) -> Message:
    """Build a reply."""
    return Message(role="assistant", content=text, tool_calls=calls)


C1, C2, C3 = call("c1"), call("c2"), call("c3")

H07 = [
    SYSTEM,
    user("sort the logs"),
    says(None, C1, C2),
    tool_result(C1, "one"),
    tool_result(C2, "two"),
    says(None, C3),
    tool_result(C3, "three"),
    says("sorted"),
    user("go on"),
]
"""Two replies with calls, one without, and a second request of the user."""


def check_sendable(history: list[Message]) -> None:
    """Assert what every provider asks of a history: results right behind their calls, one each, nothing else."""
    roles = [message.role for message in history]
    assert "system" not in roles[roles.count("system") :]
    place = 0
    while place < len(history):
        message = history[place]
        assert message.role != "tool"
        results = history[place + 1 : place + 1 + len(message.tool_calls)]
        assert [result.tool_call_id for result in results] == [each.id for each in message.tool_calls]
        assert all(result.role == "tool" for result in results)
        place += 1 + len(results)


class Recorded:
    """A conversation as the loop holds one: what it appends to its history, it also reports."""

    def __init__(self) -> None:
        self.history: list[Message] = []
        self.events: list[Event] = []

    def add(self, role: Any, text: str) -> None:
        """Say something as the system or the user."""
        self.events.append(MessageAdded(role=role, text=text))
        self.history.append(Message(role=role, content=text))

    def reply(self, text: str | None, calls: list[ToolCall], results: list[str], order: list[int]) -> None:
        """Take a reply; its calls end in `order`, and the results enter the history in the order of the calls."""
        stored = [StoredCall(each.id, each.name, each.arguments) for each in calls]
        self.events.append(TurnFinished(turn=1, text=text, thinking="hm", tool_calls=stored))
        if calls or (text or "").strip():
            self.history.append(Message(role="assistant", content=text, thinking="hm", tool_calls=tuple(calls)))
        for each in calls:
            self.events.append(Tool(phase="start", call_id=each.id, tool=each.name, args=each.arguments))
        for n in order:
            self.events.append(Tool(phase="end", call_id=calls[n].id, tool=calls[n].name, result=results[n]))
        self.history += [tool_result(each, result) for each, result in zip(calls, results, strict=True)]


texts = st.text(max_size=12) | st.sampled_from(["a " * 40, "日本語" * 20, ""])


@st.composite
def recorded(draw: st.DrawFn) -> Recorded:
    """A conversation of any shape."""
    conversation = Recorded()
    conversation.add("system", draw(texts))
    conversation.add("user", draw(texts))
    for turn in range(draw(st.integers(0, 8))):
        if draw(st.booleans()):
            calls = [call(f"t{turn}-{n}", draw(st.sampled_from("ab"))) for n in range(draw(st.integers(0, 3)))]
            results = [draw(texts) for _ in calls]
            order = draw(st.permutations(range(len(calls))))
            conversation.reply(draw(st.none() | texts), calls, results, list(order))
        else:
            conversation.add("user", draw(texts))
    return conversation


right = recorded().map(lambda conversation: conversation.history)


@st.composite
def broken(draw: st.DrawFn) -> list[Message]:
    """A history in any disorder: results lost, doubled, moved, of no call; ids used again."""
    messages = list(draw(right))
    for _ in range(draw(st.integers(0, 4))):
        ids = st.sampled_from(["t0-0", "t1-0", "t1-1", "x"])
        extra = draw(st.sampled_from(["drop", "stray", "again", "system"]))
        place = draw(st.integers(0, len(messages)))
        if extra == "drop" and place < len(messages):
            del messages[place]
        elif extra == "stray":
            messages.insert(place, tool_result(call(draw(ids)), "stray"))
        elif extra == "again":
            messages.insert(place, says(None, call(draw(ids)), call(draw(ids))))
        elif extra == "system":
            messages.insert(place, system("late"))
    return messages

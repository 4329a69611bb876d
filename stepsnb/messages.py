"""The messages of a conversation as stepsnb keeps them, independent of any provider's wire format."""

from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True):
    """One call a model asked for; `arguments` is the JSON text as it goes back to the model."""

    id: str
    name: str
    arguments: str
    repaired: bool = False


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of a history.

    `content` None means the provider sent no text at all, which is not the same as an empty text.
    `thinking` is kept for people and never sent back. A tool result names its call in `tool_call_id`
    and its tool in `name`.
    """

    role: Role
    content: str | None = None
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None


def system(text: str) -> Message:
    """Build the system message."""
    return Message(role="system", content=text)


def user(text: str) -> Message:
    """Build a user turn."""
    return Message(role="user", content=text)


def tool_result(call: ToolCall, text: str) -> Message:
    """Build the one result a tool call gets."""
    return Message(role="tool", content=text, tool_call_id=call.id, name=call.name)


def cut_utf8(text: str, max_bytes: int) -> str:
    """Cut `text` to at most `max_bytes` of UTF-8 without splitting a character."""
    if len(text) * 4 <= max_bytes:
        return text
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= max_bytes else raw[:max_bytes].decode("utf-8", "ignore")

"""The messages of a conversation as stepsnb keeps them, independent of any provider's wire format."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]


OPENING_CALL = "opening_"
"""What the ids of calls begin with that no model made: they bring files and decisions into an opening request."""


class Mark(StrEnum):
    """What was wrong with a model's reply, or is noteworthy about it.

    `REPAIRED`: arguments of a call were mended. `PROMOTED`: a call written as text was taken as one. `LOST`: a call
    was announced and none came. `LOOPED`: it repeats a call whose result it has. `TRUNCATED`: cut at the output limit.
    `DROPPED`: cut off by a lost connection. `EMPTY`: neither text nor call. `NO_FINISH_REASON`, `NO_USAGE`: the server
    did not say. `IDS_REPLACED`: call ids were missing, or had been used before. `CONTEXT_TRUNCATED`: the server cut
    the conversation it was sent.
    """

    REPAIRED = "repaired"
    PROMOTED = "promoted"
    LOST = "lost"
    LOOPED = "looped"
    TRUNCATED = "truncated"
    DROPPED = "dropped"
    EMPTY = "empty"
    NO_FINISH_REASON = "no_finish_reason"
    NO_USAGE = "no_usage"
    IDS_REPLACED = "ids_replaced"
    CONTEXT_TRUNCATED = "context_truncated"


class ToolCall(msgspec.Struct, frozen=True):
    """One call a model asked for; `arguments` is the JSON text, as sent where it could not be mended.

    `raw` is what the model sent when `arguments` is `repaired`; `promoted` says that it stood in the reply's text.
    `signature` is what a provider put beside the call and wants back with it.
    """

    id: str
    name: str
    arguments: str
    repaired: bool = False
    promoted: bool = False
    raw: str | None = None
    signature: Any = None


class Picture(msgspec.Struct, frozen=True):
    """An image that goes with a user message; `data` is its bytes in base64."""

    name: str
    media_type: str
    data: str

    @property
    def url(self) -> str:
        """The image itself, as a data URL."""
        return f"data:{self.media_type};base64,{self.data}"

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.data) * 3 // 4 - self.data[-2:].count("=")


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of a history.

    `content` None means the provider sent no text at all, which is not the same as an empty text.
    `thinking` is kept for people, and sent back only to a provider that wants it beside calls. A tool result names its
    call in `tool_call_id` and its tool in `name`. `synthetic` marks a user message of ours, such as a reminder.
    `images` go with a user message, behind its text.
    """

    role: Role
    content: str | None = None
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    synthetic: bool = False
    images: tuple[Picture, ...] = ()


def system(text: str) -> Message:
    """Build the system message."""
    return Message(role="system", content=text)


def user(text: str, *, images: Sequence[Picture] = (), synthetic: bool = False) -> Message:
    """Build a user turn, or a message of ours in its place."""
    return Message(role="user", content=text, images=tuple(images), synthetic=synthetic)


def tool_result(call: ToolCall, text: str) -> Message:
    """Build the one result a tool call gets."""
    return Message(role="tool", content=text, tool_call_id=call.id, name=call.name)


def cut_utf8(text: str, max_bytes: int) -> str:
    """Cut `text` to at most `max_bytes` of UTF-8 without splitting a character."""
    if len(text) * 4 <= max_bytes:
        return text
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= max_bytes else raw[:max_bytes].decode("utf-8", "ignore")

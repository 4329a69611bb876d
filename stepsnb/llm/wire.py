"""A conversation as bytes on the wire, kept as a prefix that only grows.

Encoding the history anew for each request costs time in proportion to its length, which is quadratic over a
conversation; each message is encoded once instead.
"""

import hashlib
import re
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from ..messages import Message, ToolCall, user
from .providers import Provider
from .providers.endpoint import ENDPOINT
from .repair import is_object
from .request import ToolSpec

_encode = msgspec.json.Encoder().encode


def encode_json(value: object) -> bytes:
    """Encode a value as JSON; a lone surrogate (half a character, as in odd file names) becomes `?`."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(_mend(value))


def _mend(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_mend(key): _mend(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mend(item) for item in value]
    return value


_UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Stands in for the signature of a call that the provider's model did not make. Source: ai.google.dev, "Thought
signatures"."""

_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")
_SHORT_ID_LETTERS = string.ascii_letters + string.digits


def encode_message(message: Message, provider: Provider = ENDPOINT) -> bytes:
    """Encode one message as chat completions take it, and as `provider` in particular wants it.

    A content of None goes out as null and an empty one as an empty text: what the provider said is kept. The
    arguments of a call always go out as a JSON object, see `sendable`.
    """
    wire: dict[str, object] = {"role": message.role, "content": message.content}
    if message.images:
        wire["content"] = [
            {"type": "text", "text": message.content or ""},
            *({"type": "image_url", "image_url": {"url": image.url}} for image in message.images),
        ]
    if message.role == "tool":
        wire["tool_call_id"] = _wire_id(message.tool_call_id or "", provider)
    elif message.tool_calls:
        if provider.sends_thinking:
            wire["reasoning_content"] = message.thinking
        wire["tool_calls"] = [_encode_call(call, provider, number) for number, call in enumerate(message.tool_calls)]
    return encode_json(wire)


def _encode_call(call: ToolCall, provider: Provider, number: int) -> dict[str, object]:
    function = {"name": call.name, "arguments": sendable(call)}
    wire: dict[str, object] = {"id": _wire_id(call.id, provider), "type": "function", "function": function}
    if provider.signs_calls:
        signature = call.signature or (None if number else _UNSIGNED)  # the first of several stands for all
        if signature is not None:
            wire["extra_content"] = signature
    return wire


def _wire_id(call_id: str, provider: Provider) -> str:
    """Return a call's id as the provider takes it: always the same one for the same call."""
    if not provider.short_call_ids or _SHORT_ID.fullmatch(call_id):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    letters = []
    for _ in range(9):
        number, place = divmod(number, len(_SHORT_ID_LETTERS))
        letters.append(_SHORT_ID_LETTERS[place])
    return "".join(letters)


def sendable(call: ToolCall) -> str:
    """Return the arguments of a call as a history may hold them: a valid JSON object, as it stands where it is one.

    Servers parse the calls of a history to fill in the model's template, and refuse a request with others for good:
    llama.cpp with 500, vLLM and Mistral with 400. What could not be read goes out as text inside an object, so that
    the model sees what it wrote.
    """
    arguments = call.arguments
    if is_object(arguments):
        return arguments
    if arguments.strip() in ("", "null"):
        return "{}"
    return encode_json({"unreadable_arguments": arguments}).decode()


def encode_tool(tool: ToolSpec) -> bytes:
    """Encode one tool as a function that a model may call."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return encode_json({"type": "function", "function": function})


class Encode(Protocol):
    """Encodes one message; the first of a history may be told from the others."""

    def __call__(self, message: Message, *, is_first: bool) -> bytes: ...  # noqa: D102 - above


_HEARD = Message(role="assistant", content="I have the results.")


class HistoryBytes:
    """The encoded messages of one conversation.

    Histories handed in may only grow between two calls of `drop`. A replaced or shortened one is noticed by its
    length and its last known message, and encoded anew.

    `tell` turns each message into one that the model's template knows. With it, messages of the user that follow
    each other go out as one, since such templates (Gemma, Mistral) refuse a conversation with two of them in a row.
    With `answers_tools` a word of the model's goes between a tool's result and a message of the user.
    """

    def __init__(
        self, encode: Encode, tell: Callable[[Message], Message] | None = None, *, answers_tools: bool = False
    ) -> None:
        self._encode = encode
        self._tell = tell
        self._answers_tools = answers_tools
        self._bytes = bytearray()
        self._count = 0
        self._last: Message | None = None
        self._run: list[Message] = []  # what the user said last, without anything between, and where it begins
        self._run_start = 0
        self.call_ids: set[str] = set()
        """Ids of the tool calls the history holds."""

    def drop(self) -> None:
        """Forget the bytes; the next request encodes the whole history."""
        self._bytes.clear()
        self.call_ids.clear()
        self._count = 0
        self._last = None
        self._run = []

    def extend_to(self, history: Sequence[Message]) -> bytearray:
        """Encode what is new in `history`; return all of it as the elements of a JSON array, to read only."""
        if self._count and (len(history) < self._count or history[self._count - 1] is not self._last):
            self.drop()
        for message in history[self._count :]:
            is_behind_tool = self._last is not None and self._last.role == "tool"
            if self._answers_tools and is_behind_tool and message.role == "user":
                self._add(_HEARD)
            self._add(message if self._tell is None else self._tell(message))
            for call in message.tool_calls:
                self.call_ids.add(call.id)
            self._last = message
        self._count = len(history)
        return self._bytes

    def _add(self, message: Message) -> None:
        if message.role != "user" or self._tell is None:
            self._run = []
        elif self._run:
            del self._bytes[self._run_start :]
            self._run.append(message)
            text = "\n\n".join(each.content or "" for each in self._run)
            message = user(text, images=[image for each in self._run for image in each.images])
        else:
            self._run, self._run_start = [message], len(self._bytes)
        encoded = self._encode(message, is_first=not self._bytes)
        if self._bytes:
            self._bytes += b","
        self._bytes += encoded


def join_json(items: Iterable[bytes]) -> bytes:
    """Join encoded values into a JSON array."""
    return b"[" + b",".join(items) + b"]"

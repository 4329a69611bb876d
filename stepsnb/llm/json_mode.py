"""Requests to models that cannot call tools: the server holds each reply to a schema that says a call or an answer.

Nothing about tools is in the request itself; the system message describes them, calls and results are told as
plain messages, and `response_format` (OpenAI, "Structured outputs"; llama.cpp compiles it to a grammar) makes the
form certain.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from ..messages import Message, ToolCall
from .assembly import Assembly, Reading
from .json_reply import AnswerStream, read_json_reply, read_partial_answer
from .json_schema import build_schema
from .repair_calls import CallRepairer
from .request import Choice, Listener, ToolSpec
from .target import Target
from .wire import HistoryBytes, encode_json, encode_message, sendable

DESCRIPTION_CHARACTERS = 300
"""Of a tool's description in the system message: small models lose the thread in long ones."""


class JsonMode:
    """How a conversation is written for, and read from, a model whose replies are held to a schema."""

    def __init__(self, target: Target, tools: Sequence[ToolSpec]) -> None:
        self.tool_names: frozenset[str] = frozenset()  # none is offered natively
        self._tools = {tool.name: tool for tool in tools}
        self._repairer = CallRepairer(tools)
        self._max_tokens = target.max_tokens
        self._instructions = describe_tools(tools) if tools else ""
        self._tails: dict[tuple[tuple[str, ...] | None, bool, bool, bytes], bytes] = {}

    def begin(self) -> HistoryBytes:
        """Return the bytes of a conversation that begins."""
        return HistoryBytes(self.encode, self._tell if self._tools else None)

    def encode(self, message: Message, *, is_first: bool) -> bytes:
        """Encode one message; the first carries, or is preceded by, what there is to say about tools."""
        if not self._tools or not is_first:
            return encode_message(message)
        if message.role == "system":
            text = f"{message.content or ''}\n\n{self._instructions}".lstrip()
            return encode_message(Message(role="system", content=text))
        return encode_message(Message(role="system", content=self._instructions)) + b"," + encode_message(message)

    @staticmethod
    def _tell(message: Message) -> Message:
        match message.role:
            case "tool":
                return Message(role="user", content=f"Result of {message.name}: {message.content or ''}")
            case "assistant" if message.tool_calls:
                return Message(role="assistant", content="\n".join(_write_call(call) for call in message.tool_calls))
            case "assistant":
                answer = encode_json({"answer": message.content or ""}).decode()
                return Message(role="assistant", content=answer)
        return message

    def tail(self, choice: Choice) -> bytes:
        """Return the `response_format` of a choice."""
        if not self._tools:
            return b""
        narrowed = encode_json(choice.arguments) if choice.arguments else b""
        key = (choice.tools, choice.must_call, choice.may_call, narrowed)
        if key not in self._tails:
            schema = build_schema(self._tools, choice, self._max_tokens)
            form = {"name": "reply", "strict": True, "schema": schema}
            self._tails[key] = b',"response_format":' + encode_json({"type": "json_schema", "json_schema": form})
        return self._tails[key]

    def listen(self, listener: Listener | None) -> Listener | None:
        """Return who hears the raw pieces of the reply: of its JSON only an answer is passed on."""
        return AnswerStream(listener) if listener is not None and self._tools else listener

    def read(self, assembly: Assembly, choice: Choice, history: Sequence[Message]) -> Reading:
        """Return what a whole reply says: an answer, or a call."""
        text, calls = assembly.text, assembly.calls()
        reading = Reading(text, calls, assembly.finish_reason)
        if text is not None and not calls and self._tools:
            reading = read_json_reply(text, assembly.finish_reason)
        return reading._replace(calls=self._repairer.repair_all(reading.calls, reading.finish_reason))

    def read_partial(self, assembly: Assembly) -> Reading:
        """Return what has arrived of a reply that broke off: of its JSON only an answer."""
        text = assembly.text
        if text is not None and self._tools:
            text = read_partial_answer(text)
        return Reading(text, assembly.calls(), assembly.finish_reason)


def _write_call(call: ToolCall) -> str:
    arguments = msgspec.Raw(msgspec.json.format(sendable(call).encode(), indent=-1))
    return encode_json({"tool": call.name, "arguments": arguments}).decode()


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """Say in few words which tools there are and how a reply looks."""
    lines = [
        "Reply with one JSON object and nothing else.",
        'To use a tool: {"tool": NAME, "arguments": {...}}',
        'To give your final answer: {"answer": TEXT}',
        "Tools:",
    ]
    lines.extend(f"- {_signature(tool)}: {_first_words(tool.description)}" for tool in tools)
    return "\n".join(lines)


def _signature(tool: ToolSpec) -> str:
    required = tool.parameters.get("required", ())
    parameters = (
        f"{name}{'' if name in required else '?'}: {_type_name(schema)}"
        for name, schema in tool.parameters.get("properties", {}).items()
    )
    return f"{tool.name}({', '.join(parameters)})"


def _type_name(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "any"
    if "enum" in schema:
        return "|".join(encode_json(value).decode() for value in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"[{_type_name(schema.get('items'))}]"
    return "|".join(kind) if isinstance(kind, list) else str(kind)


def _first_words(description: str) -> str:
    words = " ".join(description.strip().split("\n\n")[0].split())
    return words if len(words) <= DESCRIPTION_CHARACTERS else words[:DESCRIPTION_CHARACTERS].rstrip() + " …"

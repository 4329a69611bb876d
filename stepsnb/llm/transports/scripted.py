"""Answers requests from a script, as a transport under the real client: all above the socket runs as ever.

The reply is chosen by what the request holds (how many replies of the model are in its history), so any number of
conversations can go through one script at the same time. A request that departs from the script is refused with
the reason.
"""

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import msgspec

from ...messages import OPENING_CALL
from ...usage import Usage
from ..estimate import estimate_text
from .script import Conversation, Script, ScriptedError, ScriptedReply

_PIECES = re.compile(r"\S+\s*|\s+")
_encode = msgspec.json.encode


class _DepartureError(Exception):
    """A request that the script has no answer to."""


class ScriptedTransport(httpx.AsyncBaseTransport):
    """The far end of one client's requests."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._errors_given: Counter[str] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one chat completion."""
        asked: dict[str, Any] = msgspec.json.decode(request.content)
        if self._script.on_request is not None:
            self._script.on_request(asked)
        try:
            reply, number = self._choose(asked)
            if reply.error is not None:
                return _error_response(reply.error)
            _check(reply, number, asked)
        except _DepartureError as exc:
            words = f"script `{self._script.name}`: {exc}"
            return _json_response(400, {"error": {"message": words, "type": "script"}})
        written = _written(reply, number, is_json_mode="response_format" in asked)
        usage = _wire_usage(reply.usage or _estimated(asked, reply))
        model = str(asked.get("model", ""))
        if not asked.get("stream"):
            await asyncio.sleep(reply.delay_s)
            message = {"role": "assistant", **written.message}
            choice = {"index": 0, "message": message, "finish_reason": written.finish_reason}
            return _json_response(200, {"model": model, "choices": [choice], "usage": usage})
        events = _events(written, model, usage)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=_Paced(events, reply.delay_s))

    def _choose(self, asked: dict[str, Any]) -> tuple[ScriptedReply, int]:
        """Find the reply to a request, and its number within the conversation from 0."""
        messages = asked["messages"]
        conversation = self._conversation(messages)
        wanted = sum(map(_is_reply, messages))
        if conversation.in_order:
            return _next_in_order(conversation, messages, is_new=wanted == 0)
        digest = hashlib.sha256(_encode(messages)).hexdigest()
        number = 0
        for reply in conversation.replies:
            if reply.error is None:
                if number == wanted:
                    return reply, wanted
                number += 1
            elif number == wanted:
                key = f"{id(reply)} {digest}"
                if self._errors_given[key] < reply.error.times:
                    self._errors_given[key] += 1
                    return reply, wanted
        raise _departure(conversation, number, wanted, messages)

    def _conversation(self, messages: Sequence[dict[str, Any]]) -> Conversation:
        system = next((_text(message) for message in messages if message["role"] == "system"), "")
        user = next((_text(message) for message in messages if message["role"] == "user"), "")
        for conversation in self._script.conversations:
            if conversation.when is not None and (conversation.when in user or conversation.when in system):
                return conversation
        for conversation in self._script.conversations:
            if conversation.when is None:
                return conversation
        known = ", ".join(f"`{conversation.when}`" for conversation in self._script.conversations)
        raise _DepartureError(
            f"no conversation fits: neither the system text nor the first user message holds one of {known}"
        )


def _is_reply(message: dict[str, Any]) -> bool:
    """Whether a message is a reply of the model, not one of ours that puts files into its opening."""
    calls: list[dict[str, Any]] = message.get("tool_calls") or [{}]
    return message["role"] == "assistant" and not str(calls[0].get("id", "")).startswith(OPENING_CALL)


def _next_in_order(
    conversation: Conversation, messages: Sequence[dict[str, Any]], *, is_new: bool
) -> tuple[ScriptedReply, int]:
    if is_new and conversation.given >= len(conversation.replies):
        conversation.given = 0
    number = conversation.given
    if number >= len(conversation.replies):
        raise _departure(conversation, len(conversation.replies), number, messages)
    conversation.given += 1
    return conversation.replies[number], number


def _departure(
    conversation: Conversation, count: int, wanted: int, messages: Sequence[dict[str, Any]]
) -> _DepartureError:
    return _DepartureError(
        f"conversation `{conversation.name}` has {count} replies, and reply {wanted + 1} was asked for; "
        f"the last message is {_shown(messages[-1])}"
    )


class _Written(msgspec.Struct):
    """A reply as it goes over the wire: as pieces, and whole."""

    message: dict[str, Any]
    deltas: list[dict[str, Any]]
    finish_reason: str


def _written(reply: ScriptedReply, number: int, *, is_json_mode: bool) -> _Written:
    text = reply.text
    calls: list[dict[str, Any]] = [
        {
            "id": f"call_{number + 1}_{index + 1}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(reply.calls)
    ]
    if is_json_mode and (calls or text is not None):
        text, calls = _as_json(reply), []
    message: dict[str, Any] = {"content": text}
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
        deltas.extend({"reasoning_content": piece} for piece in _PIECES.findall(reply.thinking))
    if text is not None:
        deltas.extend({"content": piece} for piece in _PIECES.findall(text) or [""])
    if calls:
        message["tool_calls"] = calls
    for index, call in enumerate(calls):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        begun = {"index": index, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [begun]})
        middle = len(arguments) // 2
        deltas.extend(
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in (arguments[:middle], arguments[middle:])
        )
    return _Written(message, deltas, reply.finish_reason or ("tool_calls" if calls else "stop"))


def _as_json(reply: ScriptedReply) -> str:
    """Write a reply as a model in json mode would."""
    if not reply.calls:
        return _encode({"answer": reply.text}).decode()
    call = reply.calls[0]
    return f'{{"tool": {_encode(call.name).decode()}, "arguments": {call.arguments}}}'


def _events(written: _Written, model: str, usage: dict[str, Any]) -> list[bytes]:
    def event(choices: list[dict[str, Any]], **more: Any) -> bytes:
        return b"data: " + _encode({"model": model, "choices": choices, **more}) + b"\n\n"

    events = [event([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in written.deltas]
    events.append(event([{"index": 0, "delta": {}, "finish_reason": written.finish_reason}]))
    events.append(event([], usage=usage))
    events.append(b"data: [DONE]\n\n")
    return events


class _Paced(httpx.AsyncByteStream):
    """Gives events one by one, with a pause before each that carries something of the reply."""

    def __init__(self, events: list[bytes], delay_s: float) -> None:
        self._events = events
        self._delay_s = delay_s

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for number, event in enumerate(self._events):
            if number < len(self._events) - 3:
                await asyncio.sleep(self._delay_s)
            yield event


def _offered(asked: dict[str, Any]) -> list[str]:
    """Return the tools a request offers, natively or through its `response_format`."""
    names = [tool["function"]["name"] for tool in asked.get("tools", ())]
    if "response_format" in asked:
        schema = asked["response_format"]["json_schema"]["schema"]
        branches = [branch["properties"] for branch in schema.get("anyOf", [schema])]
        names.extend(branch["tool"]["const"] for branch in branches if "tool" in branch)
    return names


def _check(reply: ScriptedReply, number: int, asked: dict[str, Any]) -> None:
    messages, offered = asked["messages"], _offered(asked)
    here = f"reply {number + 1}"
    owed: dict[str, str] = {}
    for message in messages:
        if message["role"] == "tool":
            owed.pop(message["tool_call_id"], None)
        elif owed:
            break
        owed.update({call["id"]: call["function"]["name"] for call in message.get("tool_calls", ())})
    if owed:
        call_id, name = next(iter(owed.items()))
        raise _DepartureError(f"{here}: the result of call `{call_id}` of `{name}` is missing from the history")
    last = messages[-1]
    for expected in reply.expect.message:
        if expected not in _text(last):
            raise _DepartureError(f"{here}: the last message was to hold `{expected}`, and is {_shown(last)}")
    called = [call.name for call in reply.calls] if reply.check else []
    for name in (*reply.expect.tools, *called):
        if name not in offered:
            raise _DepartureError(
                f"{here}: tool `{name}` was to be offered after {_shown(last)}; offered: {', '.join(offered) or 'none'}"
            )


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] if part["type"] == "text" else f"[{part['type']}]" for part in content)


def _shown(message: dict[str, Any]) -> str:
    text = _text(message)
    return f"{message['role']} `{text if len(text) <= 120 else text[:120] + '…'}`"


def _estimated(asked: dict[str, Any], reply: ScriptedReply) -> Usage:
    """Estimate the tokens of a request and its reply, for scripts that do not say."""
    read = estimate_text(_encode(asked.get("tools", [])).decode())
    for message in asked["messages"]:
        read += estimate_text(_text(message))
        read += sum(estimate_text(call["function"]["arguments"]) for call in message.get("tool_calls", ()))
    thought = estimate_text(reply.thinking)
    said = estimate_text(reply.text or "") + sum(estimate_text(call.name + call.arguments) for call in reply.calls)
    return Usage(input_tokens=read, output_tokens=said + thought, reasoning_tokens=thought)


def _wire_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_input_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _error_response(error: ScriptedError) -> httpx.Response:
    headers = {} if error.retry_after_s is None else {"retry-after": f"{error.retry_after_s:g}"}
    return _json_response(error.status, {"error": {"message": error.message}}, headers)


def _json_response(status: int, body: object, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(
        status, headers={"content-type": "application/json", **(headers or {})}, content=_encode(body)
    )

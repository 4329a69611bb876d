"""What providers put into a reply's JSON, streamed or whole: typed, and tolerant of what is missing, null or more.

One shape serves both: a whole reply has a `message` where a streamed chunk has a `delta`.
Sources: OpenAI, "Chat Completions: object, chunk object"; OpenRouter, "API reference: responses"; DeepSeek, "Context
caching"; the differences each has are named beside the fields.
"""

from typing import Any

import msgspec

from ..usage import Usage


class FunctionDelta(msgspec.Struct):
    """The function of a call; `arguments` is JSON text, from some servers the object itself (or whatever it is)."""

    name: str | None = None
    arguments: Any = None


class CallDelta(msgspec.Struct):
    """A tool call or a piece of one; `extra_content` holds Google's signature of it."""

    index: int | None = None
    id: str | int | None = None
    function: FunctionDelta | None = None
    extra_content: Any = None


class ContentPart(msgspec.Struct):
    """One part of a content that is sent as a list."""

    text: str | None = None


class Delta(msgspec.Struct):
    """A message or a piece of one.

    Thinking is `reasoning_content` (DeepSeek, llama.cpp) or `reasoning` (OpenRouter).
    """

    content: str | list[ContentPart] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[CallDelta] | None = None


class ReplyChoice(msgspec.Struct):
    """One of the alternatives of a reply; we ask for one and read the first."""

    index: int | None = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    """A streamed chunk, or a whole reply. The shapes of `usage` and `error` differ most, so they stay untyped."""

    choices: list[ReplyChoice] | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None


decode_chunk = msgspec.json.Decoder(Chunk).decode
"""Parse one event's data, or a whole reply; raises `msgspec.DecodeError` (of which a wrong type is one kind)."""


MOST_TOKENS = 2**53
"""No request has as many; a server that says more is taken at this number, which every record can hold."""


def _count(counts: object, key: str) -> int:
    value = counts.get(key) if isinstance(counts, dict) else None
    if not isinstance(value, int | float) or value != value:
        return 0
    return int(min(max(value, 0), MOST_TOKENS))


def read_usage(counts: object) -> Usage | None:
    """Turn a provider's counts into disjoint classes; None when it counted nothing (null, absent or all zero).

    Providers count cached tokens inside `prompt_tokens` and thinking inside `completion_tokens`. Cached tokens are
    `prompt_tokens_details.cached_tokens` (OpenAI, OpenRouter), `prompt_cache_hit_tokens` (DeepSeek) or
    `cached_tokens` (Moonshot); tokens written to a cache are `prompt_tokens_details.cache_write_tokens` (OpenRouter).
    xAI counts thinking beside `completion_tokens`, which its `total_tokens` gives away.
    """
    if not isinstance(counts, dict):
        return None
    prompt, output = _count(counts, "prompt_tokens"), _count(counts, "completion_tokens")
    if prompt + output == 0:
        return None
    read_details = counts.get("prompt_tokens_details")
    reasoning = _count(counts.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning and _count(counts, "total_tokens") == prompt + output + reasoning:
        output += reasoning
    cached = max(
        _count(read_details, "cached_tokens"),
        _count(counts, "prompt_cache_hit_tokens"),
        _count(counts, "cached_tokens"),
    )
    cached = min(cached, prompt)
    written = min(_count(read_details, "cache_write_tokens"), prompt - cached)
    return Usage(
        input_tokens=prompt - cached - written,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=min(reasoning, output),
    )

"""One conversation with a model: each call sends the whole history and gives the next reply."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..messages import Mark, Message
from .assembly import Assembly, Reading
from .prices import price_usage
from .providers import provider_named
from .reader import ReplyReader
from .reply import Reply, RequestFailed
from .request import Choice, Listener
from .target import Target
from .wire import HistoryBytes, encode_json

if TYPE_CHECKING:
    from .connection import Link


class Mode(Protocol):
    """How a kind of model is written to and read: `NativeMode` or `JsonMode`."""

    tool_names: frozenset[str]

    def begin(self) -> HistoryBytes:
        """Return the bytes of a conversation that begins."""

    def tail(self, choice: Choice) -> bytes:
        """Return what stands behind the messages in the body."""

    def listen(self, listener: Listener | None) -> Listener | None:
        """Return who hears the raw pieces of the reply."""

    def read(self, assembly: Assembly, choice: Choice, history: Sequence[Message]) -> Reading:
        """Return what a whole reply says."""

    def read_partial(self, assembly: Assembly) -> Reading:
        """Return what has arrived of a reply that broke off."""


class Chat:
    """A conversation over one connection pool; made by `ModelClient.open`.

    The bytes of the history are kept and only grow, so between two calls of `drop_cache` a history handed in may
    only be longer than the one before.
    """

    def __init__(self, link: Callable[[], Awaitable["Link"]], mode: Mode) -> None:
        self._connect = link
        self._mode = mode
        self._history = mode.begin()
        self._link: Link | None = None
        self._head = b""

    def drop_cache(self) -> None:
        """Forget the kept bytes, because the history was rewritten."""
        self._history.drop()

    async def complete(
        self, history: Sequence[Message], choice: Choice | None = None, listener: Listener | None = None
    ) -> Reply:
        """Send one request and return the reply; nothing is tried again here.

        On cancellation the connection is closed at once. Raises: `RequestFailed`, a `ProviderError`.
        """
        started = time.perf_counter()
        choice = choice or Choice()
        link = self._link
        if link is None:
            link = self._link = await self._connect()
            self._head = build_head(link.target)
        mode = self._mode
        messages = self._history.extend_to(history)
        body = b"".join((self._head, messages, b"]", mode.tail(choice), b"}"))
        assembly = Assembly(mode.listen(listener), tool_names=mode.tool_names, taken_ids=self._history.call_ids)
        reader = ReplyReader(link.target, assembly)
        try:
            await link.post(body, reader)
            reader.finish()
        except RequestFailed as exc:
            exc.latency_s = time.perf_counter() - started
            if assembly.has_output:
                partial = mode.read_partial(assembly)
                exc.partial = _build_reply(link.target, assembly, partial, (), reader.status, started)
            raise
        reading = mode.read(assembly, choice, history)
        return _build_reply(link.target, assembly, reading, marks_of(reading, assembly), reader.status, started)


def _build_reply(
    target: Target, assembly: Assembly, reading: Reading, marks: tuple[Mark, ...], status: int, started: float
) -> Reply:
    cost, price_source = (None, None) if assembly.usage is None else price_usage(target, assembly.usage)
    first = assembly.first_output_at
    return Reply(
        text=reading.text,
        thinking=assembly.thinking,
        tool_calls=reading.calls,
        finish_reason=reading.finish_reason,
        usage=assembly.usage,
        model=assembly.model or target.model,
        status=status,
        latency_s=time.perf_counter() - started,
        first_token_s=None if first is None else first - started,
        cost_usd=cost,
        price_source=price_source,
        marks=marks,
    )


def marks_of(reading: Reading, assembly: Assembly) -> tuple[Mark, ...]:
    """Return what was wrong with a whole reply, or is noteworthy about it."""
    calls, reason = reading.calls, assembly.finish_reason
    found = {
        Mark.REPAIRED: reading.is_mended or any(call.repaired for call in calls),
        Mark.PROMOTED: any(call.promoted for call in calls),
        Mark.LOST: not calls and reason in ("tool_calls", "function_call"),
        Mark.TRUNCATED: reason == "length",
        Mark.EMPTY: not calls and not (reading.text or "").strip(),
        Mark.NO_FINISH_REASON: reason is None,
        Mark.NO_USAGE: assembly.usage is None,
        Mark.IDS_REPLACED: assembly.has_replaced_ids,
    }
    return tuple(mark for mark, is_so in found.items() if is_so)


def build_head(target: Target) -> bytes:
    """Encode what stands before the messages in every request to a target; dials that are unset are not sent."""
    provider = provider_named(target.provider, target.base_url)
    head: dict[str, object] = {"model": target.model, "stream": target.stream}
    if target.stream and provider.reports_usage:
        head["stream_options"] = {"include_usage": True}
    dials = {
        "temperature": target.temperature,
        "top_p": target.top_p,
        provider.max_tokens_key: target.max_tokens,
        "reasoning_effort": target.reasoning_effort,
    }
    head.update((key, value) for key, value in dials.items() if value is not None)
    if target.model.startswith(provider.marks_cache or ("\0",)):
        head["cache_control"] = {"type": "ephemeral"}
    return encode_json(head)[:-1] + b',"messages":['

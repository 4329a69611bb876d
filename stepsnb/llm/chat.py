"""One conversation with a model: each call sends the whole history and gives the next reply."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..messages import Message, ToolCall
from .assembly import Assembly
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

    def encode(self, message: Message, *, is_first: bool) -> bytes:
        """Encode one message of the history."""

    def tail(self, choice: Choice) -> bytes:
        """Return what stands behind the messages in the body."""

    def listen(self, listener: Listener | None) -> Listener | None:
        """Return who hears the raw pieces of the reply."""

    def read(self, assembly: Assembly) -> tuple[str | None, tuple[ToolCall, ...], str | None]:
        """Return the text, the calls and the finish reason of a reply."""


class Chat:
    """A conversation over one connection pool; made by `ModelClient.open`.

    The bytes of the history are kept and only grow, so between two calls of `drop_cache` a history handed in may
    only be longer than the one before.
    """

    def __init__(self, link: Callable[[], Awaitable["Link"]], mode: Mode) -> None:
        self._connect = link
        self._mode = mode
        self._history = HistoryBytes(mode.encode)
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
        link = self._link
        if link is None:
            link = self._link = await self._connect()
            self._head = build_head(link.target)
        mode = self._mode
        messages = self._history.extend_to(history)
        body = b"".join((self._head, messages, b"]", mode.tail(choice or Choice()), b"}"))
        assembly = Assembly(mode.listen(listener), tool_names=mode.tool_names, taken_ids=self._history.call_ids)
        reader = ReplyReader(link.target, assembly)
        try:
            await link.post(body, reader)
            reader.finish()
        except RequestFailed as exc:
            exc.latency_s = time.perf_counter() - started
            if assembly.has_output:
                exc.partial = self._build_reply(link.target, assembly, reader.status, started)
            raise
        return self._build_reply(link.target, assembly, reader.status, started)

    def _build_reply(self, target: Target, assembly: Assembly, status: int, started: float) -> Reply:
        text, calls, finish_reason = self._mode.read(assembly)
        cost, price_source = (None, None) if assembly.usage is None else price_usage(target, assembly.usage)
        first = assembly.first_output_at
        return Reply(
            text=text,
            thinking=assembly.thinking,
            tool_calls=calls,
            finish_reason=finish_reason,
            usage=assembly.usage,
            model=assembly.model or target.model,
            status=status,
            latency_s=time.perf_counter() - started,
            first_token_s=None if first is None else first - started,
            cost_usd=cost,
            price_source=price_source,
        )


def build_head(target: Target) -> bytes:
    """Encode what stands before the messages in every request to a target; dials that are unset are not sent."""
    provider = provider_named(target.provider)
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
    return encode_json(head)[:-1] + b',"messages":['

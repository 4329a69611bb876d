"""One reply of the model: its requests, sent again while nothing of it has come, and the record of each."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..effects import Attempt, Executor, RetryNotice, RetryPolicy, run_effect
from ..errors import ProviderError
from ..events import Emit, Event, Request, Retry, TextDelta, ThinkingDelta
from ..llm import Choice, Listener, Reply, RequestFailed
from ..messages import Message
from ..usage import Usage


class Conversation(Protocol):
    """The model's side: what `llm.Chat` offers."""

    async def complete(
        self, history: Sequence[Message], choice: Choice = ..., listener: Listener | None = None
    ) -> Reply:
        """Ask for the next reply with one request."""
        ...

    def drop_cache(self) -> None:
        """Learn that the history was rewritten."""
        ...


@dataclass(frozen=True, slots=True)
class Requester:
    """Asks one model; `is_free` says that requests cost nothing whatever they use, those that break off included.

    `executor` is where requests wait for their turn, None where the server takes any number at once. What streams is
    shown unless `is_shown` is off.
    """

    chat: Conversation
    model: str
    emit: Emit
    policy: RetryPolicy
    is_free: bool = False
    executor: Executor | None = None
    is_shown: bool = True


class BrokeOff(Exception):
    """A reply that broke off after some of it had come: its `text`, its `thinking`, and why."""

    def __init__(self, text: str, thinking: str, reason: str) -> None:
        super().__init__(reason)
        self.text = text
        self.thinking = thinking
        self.reason = reason


class _Heard:
    """Passes what arrives on to the event stream, and keeps it."""

    def __init__(self, asked: Requester, turn: int) -> None:
        self._emit = asked.emit if asked.is_shown else _show_nothing
        self._turn = turn
        self._text: list[str] = []
        self._thinking: list[str] = []
        self.has_begun = False

    def text(self, delta: str) -> None:
        self.has_begun = True
        self._text.append(delta)
        self._emit(TextDelta(delta=delta, turn=self._turn))

    def thinking(self, delta: str) -> None:
        self.has_begun = True
        self._thinking.append(delta)
        self._emit(ThinkingDelta(delta=delta, turn=self._turn))

    def broke_off(self, reason: str) -> BrokeOff:
        return BrokeOff("".join(self._text), "".join(self._thinking), reason)


def _show_nothing(event: Event) -> None:
    """Stand in where nobody is to see what streams."""


async def request_reply(asked: Requester, history: Sequence[Message], turn: int, choice: Choice) -> Reply:
    """Ask for the next reply; a request that fails before any output came is sent again as the policy says.

    Raises: BrokeOff when some of the reply had come; ProviderError or EffectFailed when none did, and no attempt is
    left or another would be of no use.
    """
    heard = _Heard(asked, turn)

    async def attempt(now: Attempt) -> Reply | BrokeOff:
        return await _send(asked, history, turn, choice, now, heard)

    def on_retry(notice: RetryNotice) -> None:
        asked.emit(
            Retry(
                effect="llm",
                turn=turn,
                attempt=notice.attempt,
                max_attempts=notice.max_attempts,
                reason=notice.reason,
                code=notice.code,
                wait_s=notice.wait_s,
            )
        )

    reply = await run_effect(
        asked.policy, attempt, where=f"model `{asked.model}`", executor=asked.executor, on_retry=on_retry
    )
    if isinstance(reply, BrokeOff):
        raise reply
    return reply


async def _send(
    asked: Requester, history: Sequence[Message], turn: int, choice: Choice, now: Attempt, heard: _Heard
) -> Reply | BrokeOff:
    """Send one request and record it.

    What came of a reply that broke off is handed back, not raised: that attempt has a result, and is the last one.
    """
    began = time.monotonic()
    try:
        reply = await asked.chat.complete(history, choice, heard)
    except asyncio.CancelledError:
        why = now.cut_off or "cut off before the reply was complete"
        # Once it streamed it had been accepted, and may be billed.
        failure = ProviderError(why, status=200 if heard.has_begun else None)
        failure.latency_s = time.monotonic() - began
        _record(asked, turn, now.number, None, failure)
        if now.cut_off is not None and heard.has_begun:
            return heard.broke_off(why)
        raise
    except ProviderError as exc:
        partial = exc.partial if isinstance(exc, RequestFailed) else None
        _record(asked, turn, now.number, partial, exc)
        if not exc.retryable or (partial is None and not heard.has_begun):
            raise
        broke = heard.broke_off(str(exc))
        return broke if partial is None else BrokeOff(partial.text or "", partial.thinking, broke.reason)
    _record(asked, turn, now.number, reply)
    return reply


def _record(
    asked: Requester, turn: int, attempt: int, reply: Reply | None, failure: ProviderError | None = None
) -> None:
    """Record a request by its reply, or by its failure and what of a reply had come: tokens are billed either way."""
    event = Request(turn=turn, attempt=attempt, model=asked.model)
    if reply is not None:
        usage = reply.usage or Usage()
        event.status = reply.status
        event.input_tokens = usage.input_tokens
        event.cached_input_tokens = usage.cached_input_tokens
        event.cache_write_tokens = usage.cache_write_tokens
        event.output_tokens = usage.output_tokens
        event.reasoning_tokens = usage.reasoning_tokens
        event.cost_usd = None if reply.cost_usd is None else format(reply.cost_usd, "f")
        event.price_source = reply.price_source
        event.latency_s = reply.latency_s
        event.first_token_s = reply.first_token_s
    if failure is not None:
        event.status = event.status if failure.status is None else failure.status
        event.error = str(failure)
        event.retry_after_s = failure.retry_after_s
        event.latency_s = failure.latency_s
    if event.cost_usd is None and asked.is_free:
        event.cost_usd, event.price_source = "0", "local"
    asked.emit(event)

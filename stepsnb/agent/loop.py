"""The turn loop: one function that takes tools and a history and says why it stopped."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import msgspec

from ..errors import ProviderError
from ..events import ContextUsage, Emit, MessageAdded, Nudge, Request, StoredCall, TurnFinished, TurnStarted
from ..events import TextDelta as TextDeltaEvent
from ..events import ThinkingDelta as ThinkingDeltaEvent
from ..llm import Choice, Listener, Reply, RequestFailed, estimate_tokens
from ..messages import Message, user
from ..settings import LLM_RUN_S
from ..usage import Usage
from .obligations import Obligations
from .toolcalls import ToolRunner


class StopReason(StrEnum):
    """Why a conversation ended."""

    ANSWERED = "answered"
    WRAPPED_UP = "wrapped_up"
    OWED = "owed"
    EMPTY = "empty"
    PROVIDER = "provider"


class Conversation(Protocol):
    """The model's side: what `llm.Chat` offers."""

    async def complete(
        self, history: Sequence[Message], choice: Choice = ..., listener: Listener | None = None
    ) -> Reply:
        """Ask for the next reply with one request."""
        ...


@dataclass(slots=True)
class AgentDeps:
    """Everything a conversation needs from outside.

    `max_turns` 0 means no cap; `window` is the model's context window in tokens, None when not known. `is_free`
    says that requests cost nothing whatever they use, those that break off included.
    """

    chat: Conversation
    model: str
    messages: Sequence[str]
    tools: ToolRunner
    emit: Emit
    obligations: Obligations = field(default_factory=Obligations)
    max_turns: int = 0
    window: int | None = None
    is_free: bool = False


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How a conversation ended: its last text, and for anything but an answer the reason in words."""

    stop: StopReason
    text: str
    turns: int
    reason: str | None = None


class _Streamed:
    """Passes what arrives on to the event stream."""

    def __init__(self, emit: Emit, turn: int) -> None:
        self._emit = emit
        self._turn = turn
        self.has_begun = False

    def text(self, delta: str) -> None:
        self.has_begun = True
        self._emit(TextDeltaEvent(delta=delta, turn=self._turn))

    def thinking(self, delta: str) -> None:
        self.has_begun = True
        self._emit(ThinkingDeltaEvent(delta=delta, turn=self._turn))


async def run_agent(deps: AgentDeps, history: list[Message]) -> AgentResult:
    """Hold one conversation: each user turn runs to its end, tools and all, before the next is sent.

    `history` starts with the system message and is appended to; it is sendable at any moment, every tool call
    having its one result before the next request. Raises what must end the step at once: `Aborted`, `InputError`
    and cancellation.
    """
    turns, text = 0, ""
    for position, message in enumerate(deps.messages):
        is_last = position == len(deps.messages) - 1
        _say(deps, history, message)
        while True:
            if deps.max_turns and turns >= deps.max_turns:
                return await _wrap_up(deps, history, turns)
            turns += 1
            try:
                reply = await _next_reply(deps, history, turns, deps.obligations.choice())
            except ProviderError as exc:
                return AgentResult(StopReason.PROVIDER, text, turns, str(exc))
            if reply.tool_calls:
                for call, called, result in await deps.tools.run(reply.tool_calls, turns):
                    deps.obligations.record(call.name, called.arguments, ok=called.ok, result=called.result.content)
                    history.append(result)
                continue
            text = reply.text or ""
            reminder = deps.obligations.remind() if is_last else None
            if reminder is None:
                if not text.strip():
                    return AgentResult(StopReason.EMPTY, text, turns, _why_empty(reply))
                break
            if reminder.text is None:
                return AgentResult(StopReason.OWED, text, turns, reminder.failure)
            deps.emit(Nudge(owed=reminder.owed, text=reminder.text))
            _say(deps, history, reminder.text, synthetic=True)
    return AgentResult(StopReason.ANSWERED, text, turns)


def _say(deps: AgentDeps, history: list[Message], text: str, *, synthetic: bool = False) -> None:
    history.append(user(text))
    deps.emit(MessageAdded(role="user", text=text, synthetic=synthetic))


def _why_empty(reply: Reply) -> str:
    if reply.finish_reason == "length":
        return "the model's reply was cut off by its output limit before it said anything; raise `max_tokens`"
    return f"the model sent an empty reply (finish reason `{reply.finish_reason}`)"


async def _wrap_up(deps: AgentDeps, history: list[Message], turns: int) -> AgentResult:
    """Ask once more with the tools withheld, for an answer from what has been gathered."""
    used = f"all {turns} turns (`max_turns`) are used"
    if deps.obligations.required:
        names = ", ".join(f"`{name}`" for name in deps.obligations.required)
        return AgentResult(StopReason.OWED, "", turns, f"{used} and required tool {names} never succeeded")
    text = f"Your {turns} turns are used up. Answer now from what you have; no tools are available any more."
    _say(deps, history, text, synthetic=True)
    try:
        reply = await _next_reply(deps, history, turns + 1, Choice(may_call=False))
    except ProviderError as exc:
        return AgentResult(StopReason.PROVIDER, "", turns + 1, f"{used}, and the last request failed: {exc}")
    if not (reply.text or "").strip():
        return AgentResult(StopReason.EMPTY, "", turns + 1, f"{used}, and {_why_empty(reply)}")
    return AgentResult(StopReason.WRAPPED_UP, reply.text or "", turns + 1)


async def _next_reply(deps: AgentDeps, history: list[Message], turn: int, choice: Choice) -> Reply:
    """Send one request, record it, and append the reply to the history."""
    deps.emit(TurnStarted(turn=turn, model=deps.model))
    streamed, began = _Streamed(deps.emit, turn), time.monotonic()
    clock = asyncio.timeout(LLM_RUN_S)
    try:
        async with clock:
            reply = await deps.chat.complete(history, choice, streamed)
    except TimeoutError as exc:
        if not clock.expired():
            raise
        failure = _cut_off(f"model `{deps.model}`: deadline exceeded while running ({LLM_RUN_S:g} s)", streamed, began)
        _record_request(deps, turn, None, failure)
        raise failure from exc
    except asyncio.CancelledError:
        _record_request(deps, turn, None, _cut_off("cut off before the reply was complete", streamed, began))
        raise
    except ProviderError as exc:
        _record_request(deps, turn, exc.partial if isinstance(exc, RequestFailed) else None, exc)
        raise
    _record_request(deps, turn, reply)
    deps.emit(
        TurnFinished(
            turn=turn,
            model=deps.model,
            finish_reason=reply.finish_reason,
            text=reply.text,
            thinking=reply.thinking,
            tool_calls=[StoredCall(call.id, call.name, call.arguments) for call in reply.tool_calls],
        )
    )
    if not choice.may_call and reply.tool_calls:
        reply = msgspec.structs.replace(reply, tool_calls=())
    history.append(Message(role="assistant", content=reply.text, thinking=reply.thinking, tool_calls=reply.tool_calls))
    usage = reply.usage
    used = usage.total_tokens if usage and usage.prompt_tokens else estimate_tokens(history)
    deps.emit(ContextUsage(used=used, total=deps.window))
    return reply


def _cut_off(message: str, streamed: _Streamed, began: float) -> ProviderError:
    """Build the error of a request that we ended; once it streamed it had been accepted, and may be billed."""
    failure = ProviderError(message, status=200 if streamed.has_begun else None, retryable=True)
    failure.latency_s = time.monotonic() - began
    return failure


def _record_request(deps: AgentDeps, turn: int, reply: Reply | None, failure: ProviderError | None = None) -> None:
    """Record a request by its reply, or by its failure and what of a reply had come: tokens are billed either way."""
    event = Request(turn=turn, model=deps.model)
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
    if event.cost_usd is None and deps.is_free:
        event.cost_usd, event.price_source = "0", "local"
    deps.emit(event)

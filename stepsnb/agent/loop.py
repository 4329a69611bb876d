"""The turn loop: one function that takes tools and a history and says why it stopped."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import msgspec

from ..errors import ProviderError
from ..events import ContextUsage, Emit, MessageAdded, Nudge, Request, StoredCall, TurnFinished, TurnStarted
from ..events import TextDelta as TextDeltaEvent
from ..events import ThinkingDelta as ThinkingDeltaEvent
from ..llm import Choice, Listener, Reply, estimate_tokens
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

    `max_turns` 0 means no cap; `window` is the model's context window in tokens, None when not known.
    """

    chat: Conversation
    model: str
    messages: Sequence[str]
    tools: ToolRunner
    emit: Emit
    obligations: Obligations = field(default_factory=Obligations)
    max_turns: int = 0
    window: int | None = None


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

    def text(self, delta: str) -> None:
        self._emit(TextDeltaEvent(delta=delta, turn=self._turn))

    def thinking(self, delta: str) -> None:
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
    try:
        async with asyncio.timeout(LLM_RUN_S):
            reply = await deps.chat.complete(history, choice, _Streamed(deps.emit, turn))
    except TimeoutError as exc:
        failure = ProviderError(
            f"model `{deps.model}`: deadline exceeded while running ({LLM_RUN_S:g} s)", retryable=True
        )
        _record_failure(deps, turn, failure)
        raise failure from exc
    except ProviderError as exc:
        _record_failure(deps, turn, exc)
        raise
    _record_reply(deps, turn, reply)
    if not choice.may_call and reply.tool_calls:
        reply = msgspec.structs.replace(reply, tool_calls=())
    history.append(Message(role="assistant", content=reply.text, thinking=reply.thinking, tool_calls=reply.tool_calls))
    usage = reply.usage
    used = usage.total_tokens if usage and usage.prompt_tokens else estimate_tokens(history)
    deps.emit(ContextUsage(used=used, total=deps.window))
    return reply


def _record_failure(deps: AgentDeps, turn: int, exc: ProviderError) -> None:
    deps.emit(
        Request(
            turn=turn,
            model=deps.model,
            status=exc.status,
            error=str(exc),
            retry_after_s=exc.retry_after_s,
            latency_s=exc.latency_s,
        )
    )


def _record_reply(deps: AgentDeps, turn: int, reply: Reply) -> None:
    usage = reply.usage or Usage()
    deps.emit(
        Request(
            turn=turn,
            model=deps.model,
            status=reply.status,
            input_tokens=usage.input_tokens,
            cached_input_tokens=usage.cached_input_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            cost_usd=None if reply.cost_usd is None else format(reply.cost_usd, "f"),
            price_source=reply.price_source,
            latency_s=reply.latency_s,
            first_token_s=reply.first_token_s,
        )
    )
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

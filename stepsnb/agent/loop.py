"""The turn loop: one function that takes tools and a history and says why it stopped."""

from collections.abc import Sequence

import msgspec

from ..effects import EffectFailed
from ..errors import ProviderError
from ..events import (
    ContextTruncated,
    ContextUsage,
    LoopWarning,
    MessageAdded,
    Nudge,
    Retry,
    StoredCall,
    TurnFinished,
    TurnStarted,
)
from ..events import Tool as ToolEvent
from ..llm import Choice, Reply
from ..messages import OPENING_CALL, Mark, Message, Picture, ToolCall, tool_result, user
from ..settings import DEADLINE_SHARE
from .compaction import SizeMeter
from .continuation import Continuation, Continuations, Kind
from .deps import AgentDeps, AgentResult, StopReason
from .failover import ModelLine, ModelSource
from .loop_detection import Judgement, LoopDetector
from .toolcalls import cut_off_call
from .truncation import TruncationDetector
from .turn import BrokeOff


class BudgetSpent(Exception):
    """Nothing more may be spent on a conversation; the message says whose budget that was."""


async def run_agent(deps: AgentDeps, history: list[Message]) -> AgentResult:
    """Hold one conversation: each user turn runs to its end, tools and all, before the next is sent.

    `history` starts with the system message and is appended to, or rewritten in place when it is summarised; it is
    sendable at any moment, every tool call having its one result before the next request. Raises what must end the
    step at once: `Aborted`, `InputError` and cancellation.
    """
    return await _Held(deps, history).hold()


class _Held:
    """A conversation on its way."""

    def __init__(self, deps: AgentDeps, history: list[Message]) -> None:
        self._deps = deps
        self._history = history
        self._turn = 0  # of the last reply asked for; those that were not whole are turns of their own in the record
        self._spent = 0  # whole replies, which is what `max_turns` counts
        self._text = ""
        self._parts: list[str] = []  # of the reply that is under way, as far as it came
        self._continuations = Continuations()
        self._loops = LoopDetector()
        self._truncation = TruncationDetector()
        self._size = SizeMeter([tool.spec for tool in deps.tools.tools.values()])
        self._line = ModelLine(
            deps.source,
            deps.fallback,
            emit=deps.emit,
            policy=deps.policy,
            size=self._size,
            on_rewritten=self._truncation.reset,
            on_changed=self._on_changed,
        )
        self._is_warned = False
        self._had_decided = False  # before the message that is being answered

    def _on_changed(self, source: ModelSource) -> None:
        self._truncation.reset()
        self._deps.obligations.is_constrained = source.is_constrained

    async def hold(self) -> AgentResult:
        last = len(self._deps.messages) - 1
        try:
            for position, message in enumerate(self._deps.messages):
                self._deps.obligations.is_final = position == last
                self._had_decided = self._deps.obligations.has_decided
                self._say(message, images=self._deps.images if position == 0 else ())
                if position == 0:
                    self._open()
                if (end := await self._run_to_end()) is not None:
                    return end
        except (ProviderError, EffectFailed) as exc:
            return self._end(StopReason.PROVIDER, "".join(self._parts) or self._text, str(exc))
        except BudgetSpent as exc:
            return self._end(StopReason.BUDGET, "".join(self._parts) or self._text, str(exc))
        return self._end(StopReason.ANSWERED, self._text)

    def _check_budget(self) -> None:
        """Raises: BudgetSpent."""
        if (words := self._deps.breach()) is not None:
            raise BudgetSpent(words)

    async def _run_to_end(self) -> AgentResult | None:
        """Answer one message; None when it is answered and the next may be put."""
        deps = self._deps
        while not deps.max_turns or self._spent < deps.max_turns:
            reply = await self._whole_reply(deps.obligations.choice())
            if reply.tool_calls:
                if (end := await self._call_tools(reply)) is not None:
                    return end
                continue
            self._text = reply.text or ""
            reminder = deps.obligations.remind() if deps.obligations.is_final else None
            if reminder is None:
                return None if self._text.strip() or self._has_decided else self._empty(reply)
            if reminder.text is None:
                return self._end(StopReason.OWED, self._text, reminder.failure)
            deps.emit(Nudge(owed=reminder.owed, text=reminder.text))
            self._say(reminder.text, synthetic=True)
        return await self._wrap_up()

    async def _wrap_up(self) -> AgentResult:
        """Ask once more with the tools withheld, for an answer from what has been gathered."""
        used = f"all {self._spent} turns (`max_turns`) are used"
        if self._deps.obligations.required:
            return self._end(StopReason.OWED, self._text, f"{used} and {self._deps.obligations.unmet()}")
        text = f"Your {self._spent} turns are used up. Answer now from what you have; no tools are available any more."
        self._say(text, synthetic=True)
        try:
            reply = await self._whole_reply(Choice(may_call=False))
        except (ProviderError, EffectFailed) as exc:
            text = "".join(self._parts)
            return self._end(StopReason.PROVIDER, text, f"{used}, and the last request failed: {exc}")
        self._check_budget()  # an answer that broke the ceiling is none of a wrap-up
        if not (reply.text or "").strip():
            return self._end(StopReason.EMPTY, "", f"{used}, and {_why_empty(reply)}")
        return self._end(StopReason.WRAPPED_UP, reply.text or "")

    def _end(self, stop: StopReason, text: str, reason: str | None = None) -> AgentResult:
        if stop in (StopReason.LOOPING, StopReason.EMPTY) and (unmet := self._deps.obligations.unmet()):
            reason = f"{reason}; {unmet}"
        line = self._line
        return AgentResult(stop, text, self._spent, reason, line.passed, line.source.model if line.passed else None)

    def _empty(self, reply: Reply) -> AgentResult:
        return self._end(StopReason.EMPTY, self._text, _why_empty(reply))

    @property
    def _has_decided(self) -> bool:
        """Whether the decision is the answer to this message, so that nothing need be said beside it."""
        return self._deps.obligations.has_decided and not self._had_decided

    def _say(self, text: str, *, images: Sequence[Picture] = (), synthetic: bool = False) -> None:
        self._history.append(user(text, images=images, synthetic=synthetic))
        named = [f"{image.name} ({image.media_type}, {image.size:,} bytes)" for image in images]
        self._deps.emit(MessageAdded(role="user", text=text, images=named, synthetic=synthetic))

    def _open(self) -> None:
        """Put the synthetic calls and their results behind the first message, as one reply before the first."""
        opening = self._deps.opening
        if not opening:
            return
        calls = tuple(ToolCall(f"{OPENING_CALL}{n}", call.name, call.arguments) for n, call in enumerate(opening, 1))
        stored = [StoredCall(call.id, call.name, call.arguments) for call in calls]
        self._deps.emit(TurnFinished(turn=0, tool_calls=stored, synthetic=True))
        self._history.append(Message(role="assistant", tool_calls=calls))
        for call, given in zip(calls, opening, strict=True):
            event = ToolEvent(phase="end", call_id=call.id, tool=call.name, args=call.arguments, result=given.result)
            self._deps.emit(event)
            self._history.append(tool_result(call, given.result))

    async def _whole_reply(self, choice: Choice) -> Reply:
        """Ask until a reply is whole, and return it with the text of the parts before it."""
        parts = self._parts = []
        while True:
            self._check_budget()
            self._warn_of_deadline()
            if not parts:  # a reply is gone on with where it stopped only while it is there word by word
                await self._line.fit(self._history, self._turn)
            self._turn += 1
            self._deps.emit(TurnStarted(turn=self._turn, model=self._line.source.model))
            try:
                reply = await self._line.request(self._history, self._turn, choice)
            except BrokeOff as broke:
                self._keep_broken(broke, parts)
                continue
            kind = self._incompleteness(reply, choice, has_parts=bool(parts))
            if kind is None or (kind == "length" and self._continuations.is_spent(kind)):
                reply = self._take(reply, choice)
                self._spent += 1
                if kind is None and self._refused_call(reply) is None:
                    self._continuations.reset()
                return msgspec.structs.replace(reply, text="".join([*parts, reply.text or ""]) or reply.text)
            self._take(reply, choice)
            has_text = bool((reply.text or "").strip())
            if kind == "lost-call":
                parts.clear()  # what is said before a call is no part of the answer, whether the call came or not
            elif has_text:
                parts.append(reply.text or "")
            self._go_on(kind, f"finish reason `{reply.finish_reason}`", has_text=has_text)

    def _incompleteness(self, reply: Reply, choice: Choice, *, has_parts: bool) -> Kind | None:
        if reply.tool_calls:
            return None  # a call that was cut off is the tools' business
        if Mark.LOST in reply.marks and choice.may_call:
            return "lost-call"
        if reply.finish_reason == "length":
            return "length"
        is_empty = not (reply.text or "").strip() and not has_parts and not self._has_decided
        return "empty" if is_empty and not self._continuations.is_spent("empty") else None

    def _keep_broken(self, broke: BrokeOff, parts: list[str]) -> None:
        """Keep the text of a reply that broke off; calls in it have no results and go."""
        if broke.text.strip():
            self._deps.emit(
                TurnFinished(
                    turn=self._turn,
                    model=self._line.source.model,
                    text=broke.text,
                    thinking=broke.thinking,
                    marks=[Mark.DROPPED],
                )
            )
            self._history.append(Message(role="assistant", content=broke.text, thinking=broke.thinking))
            parts.append(broke.text)
        self._go_on("dropped", broke.reason, has_text=bool(broke.text.strip()))

    def _go_on(self, kind: Kind, reason: str, *, has_text: bool) -> None:
        asked = self._count_incomplete(kind, reason, has_text=has_text)
        self._say(asked.text, synthetic=True)

    def _count_incomplete(self, kind: Kind, reason: str, *, has_text: bool) -> Continuation:
        """Count and record a reply that was not whole. Raises ProviderError for one too many."""
        try:
            asked = self._continuations.go_on(kind, has_text=has_text)
        except ProviderError as exc:
            raise ProviderError(f"model `{self._line.source.model}`: {exc} ({reason})") from exc
        self._deps.emit(
            Retry(
                turn=self._turn,
                retry_kind=asked.kind,
                attempt=asked.attempt,
                max_attempts=asked.limit,
                reason=reason,
            )
        )
        return asked

    def _take(self, reply: Reply, choice: Choice) -> Reply:
        """Record a reply and append it to the history, where it says or calls anything."""
        if not choice.may_call and reply.tool_calls:
            reply = msgspec.structs.replace(reply, tool_calls=())
        deps, history = self._deps, self._history
        deps.emit(
            TurnFinished(
                turn=self._turn,
                model=self._line.source.model,
                finish_reason=reply.finish_reason,
                text=reply.text,
                thinking=reply.thinking,
                tool_calls=[StoredCall(call.id, call.name, call.arguments) for call in reply.tool_calls],
                marks=[mark for mark in reply.marks if mark is not Mark.EMPTY or not self._has_decided],
            )
        )
        self._check_truncation(reply, choice)
        if reply.tool_calls or (reply.text or "").strip():
            history.append(
                Message(role="assistant", content=reply.text, thinking=reply.thinking, tool_calls=reply.tool_calls)
            )
        usage = reply.usage
        used = usage.total_tokens if usage and usage.prompt_tokens else self._size.measure_request(history)
        source = self._line.source
        compact_at = None if source.budget is None else source.budget.compact_at
        deps.emit(ContextUsage(used=used, total=source.window, compact_at=compact_at))
        return reply

    def _check_truncation(self, reply: Reply, choice: Choice) -> None:
        """Say once when the server reports far fewer prompt tokens than were sent."""
        reported = reply.usage.prompt_tokens if reply.usage else 0
        sent = self._size.measure_request(self._history)
        with_all_tools = choice.may_call and choice.tools is None
        if self._truncation.judge(self._history, sent, reported, with_all_tools=with_all_tools):
            self._deps.emit(ContextTruncated(turn=self._turn, sent=sent, reported=reported))

    async def _call_tools(self, reply: Reply) -> AgentResult | None:
        """Run the calls of a reply; not None when the conversation is stuck, or can no longer give what it owes."""
        deps = self._deps
        self._check_budget()
        cut = self._refused_call(reply)
        if cut is not None:
            reason = f"the call of `{cut.name}` was cut off by the output limit"
            self._count_incomplete("length", reason, has_text=False)
        seen = []
        for call, called, result in await deps.tools.run(reply.tool_calls, self._turn, refused=cut):
            deps.obligations.record(call.name, called.arguments, ok=called.ok, result=called.result.content)
            self._history.append(result)
            seen.append((call, result.content or ""))
        if spent := [name for name in deps.obligations.required if deps.tools.is_spent(name)]:
            names = ", ".join(f"`{name}`" for name in spent)
            return self._end(StopReason.OWED, self._text, f"{deps.obligations.unmet()}; no calls of {names} are left")
        match self._loops.judge(seen):
            case Judgement.FINE:
                return None
            case Judgement.WARN:
                self._warn_of_loop()
                return None
            case Judgement.STUCK:
                reason = f"agent stuck in a loop: `{self._loops.tool}` was called again with the same result"
                return self._end(StopReason.LOOPING, self._text, reason)

    def _refused_call(self, reply: Reply) -> ToolCall | None:
        """Return the call that was cut off and must not run with what there is of it."""
        cut = cut_off_call(reply)
        return None if cut is None or self._deps.tools.may_run_cut_off(cut) else cut

    def _warn_of_loop(self) -> None:
        tool, count = self._loops.tool, self._loops.count
        text = (
            f"You have called `{tool}` {count} times with the same arguments and got the same result. It will not "
            "change; take another way, or answer from what you have."
        )
        self._deps.emit(LoopWarning(turn=self._turn, tool=tool, count=count, text=text))
        self._say(text, synthetic=True)

    def _warn_of_deadline(self) -> None:
        """Tell the model once that its time is running out."""
        clock = None if self._is_warned else self._deps.deadline()
        if clock is None or clock[0] >= clock[1] * DEADLINE_SHARE:
            return
        self._is_warned = True
        text = f"About {max(round(clock[0]), 1)} seconds are left for this step. Finish what matters most and answer."
        self._deps.emit(Nudge(about="deadline", text=text))
        self._say(text, synthetic=True)


def _why_empty(reply: Reply) -> str:
    if reply.finish_reason == "length":
        return "the model's reply was cut off by its output limit before it said anything; raise `max_tokens`"
    return f"the model sent an empty reply (finish reason `{reply.finish_reason}`)"

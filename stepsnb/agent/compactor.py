"""Keeps the history of a running conversation within its budget, and records what that took."""

from collections.abc import Callable
from dataclasses import replace

from ..effects import EffectFailed
from ..errors import ProviderError
from ..events import Compaction
from ..llm import Choice
from ..messages import Message
from .compaction import Budget, CompactionResult, SizeMeter, compact
from .turn import BrokeOff, Conversation, Requester, request_reply


class Compactor:
    """Summarises the older part of a history once it has outgrown its `budget`.

    The `summarizer` is the same model without tools; without one, or a budget, nothing is summarised. After a
    rewrite `on_rewritten` is told, and the conversation drops the bytes it keeps.
    """

    def __init__(
        self,
        requester: Requester,
        budget: Budget | None,
        summarizer: Conversation | None,
        size: SizeMeter,
        *,
        on_rewritten: Callable[[], None],
    ) -> None:
        self._requester = requester
        self._budget = None if summarizer is None else budget
        self._asked = requester if summarizer is None else replace(requester, chat=summarizer, is_shown=False)
        self._size = size
        self._on_rewritten = on_rewritten
        self._not_before = 0  # what failed or did not help enough is not tried again before the conversation has grown

    async def fit(self, history: list[Message], turn: int) -> None:
        """Rewrite `history` in place where it is too long; a failed summary is recorded and leaves it as it is."""
        budget, before = self._budget, self._size.measure(history)
        if budget is None or not budget.is_exceeded_by(before) or before < self._not_before:
            return
        emit = self._requester.emit
        emit(Compaction(phase="start", turn=turn, before=before))
        end = Compaction(phase="end", turn=turn, before=before)
        try:
            done = await compact(history, budget, lambda messages: self._summarize(messages, turn))
        except (ProviderError, EffectFailed) as exc:
            done, end.error = None, str(exc)
        except BaseException:  # the step was stopped, or is out of time: in the record it ended all the same
            end.error = "cut off before there was a summary"
            emit(end)
            raise
        else:
            end.error = _why_not(done, before)
        if done is not None and end.error is None:
            history[:] = done.history
            self._requester.chat.drop_cache()
            self._on_rewritten()
            end.after, end.kept, end.summary = self._size.measure(history), done.kept, done.summary
        size = before if end.after is None else end.after
        self._not_before = size + budget.keep_tokens if budget.is_exceeded_by(size) else 0
        emit(end)

    async def _summarize(self, messages: list[Message], turn: int) -> str:
        """Ask the model itself for a summary; anything but a whole one is a failure."""
        try:
            reply = await request_reply(self._asked, messages, turn, Choice(may_call=False))
        except BrokeOff as broke:
            raise ProviderError(broke.reason) from broke
        if reply.finish_reason == "length":
            raise ProviderError("the summary was cut off by the output limit")
        return reply.text or ""


def _why_not(done: CompactionResult | None, before: int) -> str | None:
    """Say why a conversation stays as it is; None when `done` is to take its place."""
    if done is None:
        return "there is nothing old enough to summarise"
    if SizeMeter().measure(done.history) >= before:
        return "the summary is no shorter than what it would stand for"
    return None

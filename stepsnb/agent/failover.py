"""The models of one conversation: the one it is on, and those it goes on with when that is down."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ..effects import EffectFailed, Executor, RetryPolicy
from ..errors import ProviderError, StepsError
from ..events import Emit, Failover
from ..llm import Choice, Reply
from ..messages import Message
from .compaction import Budget, SizeMeter
from .compactor import Compactor
from .turn import Conversation, Requester, request_reply


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model where it is served: a conversation with it, with the tools, and a `summarizer` without.

    `window` is its context window in tokens, `budget` when a conversation with it is summarised, `executor` where
    requests wait for their turn. `is_constrained` says that its replies are held to a schema.
    """

    chat: Conversation
    model: str
    window: int | None = None
    is_free: bool = False
    executor: Executor | None = None
    budget: Budget | None = None
    summarizer: Conversation | None = None
    is_constrained: bool = False


OpenSource = Callable[[], Awaitable[ModelSource]]
"""Gets a source ready. Raises: StepsError when it cannot be."""


class ModelLine:
    """Asks for replies and keeps the history in bounds, over one source after the other.

    A source is left for the next once it is down and its attempts are spent, and never taken again: what is said so far
    goes on with the next one.
    """

    def __init__(
        self,
        source: ModelSource,
        fallback: Sequence[OpenSource],
        *,
        emit: Emit,
        policy: RetryPolicy,
        size: SizeMeter,
        on_rewritten: Callable[[], None],
        on_changed: Callable[[ModelSource], None],
    ) -> None:
        """Begin on `source`; `on_rewritten` is told of each summary, `on_changed` of each source it goes on with."""
        self._left = list(fallback)
        self._emit, self._policy, self._size = emit, policy, size
        self._on_rewritten, self._on_changed = on_rewritten, on_changed
        self.passed = 0
        """How many sources were left behind."""
        self._use(source)

    def _use(self, source: ModelSource) -> None:
        self.source = source
        asked = Requester(source.chat, source.model, self._emit, self._policy, source.is_free, source.executor)
        self._requester = asked
        self._compactor = Compactor(
            asked, source.budget, source.summarizer, self._size, on_rewritten=self._on_rewritten
        )

    async def fit(self, history: list[Message], turn: int) -> None:
        """Summarise the history in place where it is too long for the model."""
        await self._compactor.fit(history, turn)

    async def request(self, history: Sequence[Message], turn: int, choice: Choice) -> Reply:
        """Ask for the next reply. Raises what `request_reply` raises, once no source is left."""
        while True:
            try:
                return await request_reply(self._requester, history, turn, choice)
            except (ProviderError, EffectFailed) as exc:
                before, failure = self.source.model, str(exc)
                if not is_outage(exc) or not await self._go_on():
                    raise
            self._emit(Failover(turn=turn, from_model=before, to_model=self.source.model, reason=failure))
            self._on_changed(self.source)

    async def _go_on(self) -> bool:
        """Take the next source that can be got ready; False when none is left."""
        while self._left:
            open_source = self._left.pop(0)
            self.passed += 1
            try:
                self._use(await open_source())
            except StepsError:
                continue  # it is down as well
            return True
        return False


def is_outage(failure: EffectFailed | ProviderError) -> bool:
    """Whether a server could not be reached or broke: no refusal, nothing that the request itself is to blame for."""
    cause = failure.__cause__ if isinstance(failure, EffectFailed) else failure
    if not isinstance(cause, ProviderError):
        return cause is None  # a clock ended it
    return cause.retryable and (cause.status is None or cause.status == 200 or cause.status >= 500)

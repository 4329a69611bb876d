"""What a conversation needs from outside, and how it ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ..effects import DEFAULTS, Executor, RetryPolicy
from ..events import Emit
from ..messages import Picture
from .compaction import Budget
from .failover import ModelSource, OpenSource
from .obligations import Obligations
from .toolcalls import ToolRunner
from .turn import Conversation


class StopReason(StrEnum):
    """Why a conversation ended."""

    ANSWERED = "answered"
    WRAPPED_UP = "wrapped_up"
    OWED = "owed"
    EMPTY = "empty"
    LOOPING = "looping"
    PROVIDER = "provider"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class SyntheticCall:
    """A call that no model made, and its result: how files and decisions reach a conversation at its start."""

    name: str
    arguments: str
    result: str


@dataclass(slots=True)
class AgentDeps:
    """Everything a conversation needs from outside.

    `max_turns` 0 means no cap; `window` is the model's context window in tokens, None when not known. `is_free`
    says that requests cost nothing whatever they use, those that break off included. `opening` follows the first
    message, and `images` go with that. `policy` bounds and repeats the requests of one reply. With a `budget` a
    conversation that outgrows it is summarised by `summarizer`, the same model without tools. `breach` says whose
    money is spent, None while there is some: no request is sent and no tool runs after that. `fallback` opens the
    sources to go on with, in order. `deadline` gives the seconds that are left and had at first, None where none runs.
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
    opening: Sequence[SyntheticCall] = ()
    images: Sequence[Picture] = ()
    policy: RetryPolicy = DEFAULTS["llm"]
    executor: Executor | None = None
    budget: Budget | None = None
    summarizer: Conversation | None = None
    deadline: Callable[[], tuple[float, float] | None] = lambda: None
    breach: Callable[[], str | None] = lambda: None
    fallback: Sequence[OpenSource] = ()

    @property
    def source(self) -> ModelSource:
        """Where the conversation begins."""
        return ModelSource(
            self.chat, self.model, self.window, self.is_free, self.executor, self.budget, self.summarizer
        )


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How a conversation ended: its last text, and for anything but an answer the reason in words.

    `fallback` is how many sources it went past, `fallback_model` the one that served it in the end, None for its own.
    """

    stop: StopReason
    text: str
    turns: int
    reason: str | None = None
    fallback: int = 0
    fallback_model: str | None = None

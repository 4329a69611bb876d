"""Replies that are not whole: what asks the model to go on, and how often.

Each kind has words of its own. Only a whole reply resets the counts, so a model or server that never gives one ends.
"""

from dataclasses import dataclass
from typing import Literal

from ..errors import ProviderError
from ..settings import CONTINUATIONS, LENGTH_CONTINUATIONS, MAX_EMPTY_REPLIES

Kind = Literal["dropped", "length", "lost-call", "empty"]
"""Why a reply is not whole: its connection was lost, its output limit reached, its call or everything missing."""

_WORDS: dict[Kind, str] = {
    "dropped": "The connection was lost in the middle of your reply.",
    "length": "Your reply was cut off by its output limit.",
    "lost-call": "Your reply ended as if it called a tool, but no call arrived.",
    "empty": "Your reply was empty.",
}
_GO_ON = "Go on exactly where it stopped; do not repeat what you wrote and say nothing about this message."
_AGAIN: dict[Kind, str] = {
    "dropped": "Nothing of it is left; send it again.",
    "length": "Nothing of it is left; send it again, shorter.",
    "lost-call": "Send the call now.",
    "empty": "Give your answer, or call a tool.",
}
_LIMITS: dict[Kind, int] = {
    "dropped": CONTINUATIONS,
    "length": LENGTH_CONTINUATIONS,
    "lost-call": CONTINUATIONS,
    "empty": MAX_EMPTY_REPLIES,
}
_SHARED: dict[Kind, str] = {"dropped": "connection", "lost-call": "connection", "length": "length", "empty": "empty"}


@dataclass(frozen=True, slots=True)
class Continuation:
    """Asks for the rest of a reply: the `attempt`th time in a row, of `limit`; `text` is what the model is told."""

    kind: Kind
    attempt: int
    limit: int
    text: str


class Continuations:
    """Counts the replies in a row that were not whole; those that lost their connection or call share one count."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_SHARED.values(), 0)
        self.lost_calls = 0
        """How many of them announced a call and had none."""

    def reset(self) -> None:
        """Begin anew: a whole reply came."""
        self._counts = dict.fromkeys(self._counts, 0)
        self.lost_calls = 0

    def is_spent(self, kind: Kind) -> bool:
        """Whether a reply of this kind would be one too many."""
        return self._counts[_SHARED[kind]] >= _LIMITS[kind]

    def go_on(self, kind: Kind, *, has_text: bool) -> Continuation:
        """Count one more reply that was not whole; `has_text` says that the conversation keeps what there is of it.

        Raises: ProviderError when its count is spent.
        """
        self.lost_calls += kind == "lost-call"
        if self.is_spent(kind):
            raise ProviderError(self._failure(kind))
        count = self._counts[_SHARED[kind]] = self._counts[_SHARED[kind]] + 1
        rest = _GO_ON if has_text and kind in ("dropped", "length") else _AGAIN[kind]
        return Continuation(kind, count, _LIMITS[kind], f"{_WORDS[kind]} {rest}")

    def _failure(self, kind: Kind) -> str:
        times = _LIMITS[kind] + 1
        match kind:
            case "dropped":
                return f"the connection was lost in {times} replies in a row"
            case "length":
                return f"{times} replies in a row were cut off by the output limit; raise `max_tokens`"
            case "lost-call":
                return f"the model announced a tool call {self.lost_calls} times and sent none"
            case "empty":
                return f"the model sent {times} empty replies in a row"

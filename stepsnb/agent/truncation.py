"""Notices a server that silently cuts the conversations it is sent, as local ones do whose window is set too small."""

import re
from collections.abc import Sequence

from ..messages import Message

_MIN_SENT = 2_000
"""Estimated tokens below which a report is not compared with the estimate: no server's window is that small."""

_MIN_SHARE = 0.5
"""Of the estimate: a smaller report is suspicious."""

_MAX_DROP = 0.1
"""Of an earlier report: what a report may fall below it, because requests differ in more than their messages."""

_MIN_DROP = 100
"""Tokens a report must fall by in any case."""

_SAFETY = 0.9
"""Of the tokens a text has at least: room for a tokenizer that knows a whole phrase."""

# Tokens do not reach across words, and hardly any is longer than two dozen letters, or four characters of Chinese,
# Japanese or Korean. Runs of signs and of blanks can be one token each, however long they are.
_PIECE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]{1,4}|(?:[A-Za-z0-9]|[^\s\x00-\x7f]){1,24}|[^\w\s]+|_+|\s{2,}"
)


class TruncationDetector:
    """Compares the prompt tokens a provider reports with what was sent; speaks once in a conversation."""

    def __init__(self) -> None:
        self._most = 0
        self._is_done = False

    def reset(self) -> None:
        """Learn that the history was rewritten, or that another model is asked: earlier reports say nothing more."""
        self._most = 0

    def judge(
        self, history: Sequence[Message], sent: int, reported: int | None, *, with_all_tools: bool = True
    ) -> bool:
        """Whether this report shows, for the first time, that the conversation was cut.

        `sent` is the estimate of the `history` that was sent, `reported` what the provider counted, cached tokens
        included. Nothing follows from a report that is missing or 0. A request without the tools of those
        before it is smaller for a good reason: it is not compared with them.
        """
        if self._is_done or not reported:
            return False
        has_dropped = with_all_tools and self._most - reported > max(self._most * _MAX_DROP, _MIN_DROP)
        self._most = max(self._most, reported)
        is_small = sent >= _MIN_SENT and reported < sent * _MIN_SHARE and reported < _fewest_tokens(history) * _SAFETY
        self._is_done = has_dropped or is_small
        return self._is_done


def _fewest_tokens(history: Sequence[Message]) -> int:
    """Count the tokens a history has at least; estimates by length are far too high for blanks and repetitions."""
    return sum(
        sum(1 for _ in _PIECE.finditer(text))
        for message in history
        for text in (message.content or "", *(call.arguments for call in message.tool_calls))
    )

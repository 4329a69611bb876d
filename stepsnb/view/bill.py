"""Adds up what model requests used and cost."""

from decimal import Decimal, InvalidOperation
from typing import Any

from ..events import Request
from .words import cost_words


class Bill:
    """The running total of a run or a step."""

    def __init__(self) -> None:
        self._tokens = 0
        self._read = 0
        self._cached = 0
        self._cost_usd = Decimal(0)
        self._priced = 0
        self._unpriced = 0

    def add(self, request: Request) -> None:
        """Count one request; one without a price is called unpriced when it may be billed."""
        usage = request.usage
        self._read += usage.prompt_tokens
        self._cached += usage.cached_input_tokens
        self._tokens += usage.total_tokens
        cost_usd = _decimal(request.cost_usd)
        if cost_usd is not None:
            self._priced += 1
            self._cost_usd += cost_usd
        elif request.may_be_billed:
            self._unpriced += 1

    def figures(self) -> dict[str, Any]:
        """Return the totals under the names they have in the view's state."""
        return {
            "tokens": self._tokens,
            "cached_percent": round(100 * self._cached / self._read) if self._read else None,
            "cost": cost_words(self._cost_usd, self._unpriced, self._priced),
        }


def _decimal(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return None

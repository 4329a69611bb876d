"""Counts what is spent below one point of a run, and says when that is all there was for it."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from ..config import BudgetSpec
from ..events import Request
from ..store.cap import Ledger

_NOTHING = Decimal(0)


@dataclass(slots=True)
class Meter:
    """What everything below one point has spent, in tokens and US dollars, and what it may spend.

    `owner` is who has the ceiling, in words; those further out hold as well. With a `ledger` it is the store's cap,
    which all processes share. A request without a known price counts for tokens only: where dollars are bounded none
    such is sent. `uncounted` is the model of a reply that came without its tokens: nobody knows what it cost.
    """

    outer: "Meter | None" = None
    tokens: int = 0
    usd: Decimal = _NOTHING
    max_tokens: int | None = None
    max_usd: Decimal | None = None
    owner: str = ""
    ledger: Ledger | None = None
    uncounted: str | None = None

    @classmethod
    def of(cls, budget: BudgetSpec | None, owner: str, outer: "Meter | None" = None) -> "Meter":
        """Begin to count for somebody with a budget."""
        if budget is None:
            return cls(outer)
        return cls(outer, max_tokens=budget.tokens, max_usd=budget.usd, owner=owner)

    def add(self, request: Request) -> None:
        """Count a request here and further out."""
        tokens = request.usage.total_tokens
        usd = _NOTHING if request.cost_usd is None else Decimal(request.cost_usd)
        for meter in self.chain:
            meter.tokens += tokens
            meter.usd += usd
            if request.cost_usd is None and request.error is None and meter.max_usd is not None:
                meter.uncounted = request.model
            if meter.ledger is not None:
                meter.ledger.add(usd)

    @property
    def chain(self) -> "list[Meter]":
        """This one and those further out, with what other processes have spent of the store's cap."""
        if self.ledger is not None:
            cap = self.ledger.read()
            self.max_usd, self.usd = (None, self.usd) if cap is None else (cap.usd, cap.spent_usd)
        return [self, *(self.outer.chain if self.outer is not None else ())]

    def breach(self) -> str | None:
        """Say whose budget is spent, the nearest first; None while every one has room."""
        for meter in self.chain:
            if meter.max_tokens is not None and meter.tokens >= meter.max_tokens:
                return f"the budget of {meter.owner} is spent: {meter.tokens:,} of {meter.max_tokens:,} tokens"
            if meter.max_usd is not None and meter.usd >= meter.max_usd:
                return f"the budget of {meter.owner} is spent: ${meter.usd:.4f} of ${meter.max_usd:.4f}"
            if meter.uncounted is not None:
                return (
                    f"the budget of {meter.owner} is in US dollars and nobody knows what a reply of "
                    f"`{meter.uncounted}` cost; use a server that reports tokens and a model with a price, or take "
                    "the budget away"
                )
        return None

    @property
    def tokens_left(self) -> int | None:
        """The fewest tokens that any budget has left; None where none bounds tokens."""
        left = [max(each.max_tokens - each.tokens, 0) for each in self.chain if each.max_tokens is not None]
        return min(left, default=None)

    @property
    def usd_left(self) -> Decimal | None:
        """The least that any budget has left in US dollars; None where none bounds money."""
        left = [max(each.max_usd - each.usd, _NOTHING) for each in self.chain if each.max_usd is not None]
        return min(left, default=None)

    @property
    def bounds_money(self) -> str | None:
        """Who has a budget in US dollars, the nearest first; None where nobody has."""
        return next((each.owner for each in self.chain if each.max_usd is not None), None)

    def share(self, percent: int, own: BudgetSpec | None, owner: str) -> "Meter":
        """Give somebody who is called from here a part of what is left, or its own budget where that is smaller."""
        tokens = _smaller(_part(self.tokens_left, percent), None if own is None else own.tokens)
        left = self.usd_left
        usd = None if left is None else left * percent / 100
        own_usd = None if own is None else own.usd
        usd = min((each for each in (usd, own_usd) if each is not None), default=None)
        return Meter(self, max_tokens=tokens, max_usd=usd, owner=owner)


def cap_meter(root: Path) -> Meter:
    """Count for the cap of a store, whether it has one now or gets one later."""
    return Meter(owner="all runs of this store (`cap`)", ledger=Ledger(root))


def _part(left: int | None, percent: int) -> int | None:
    return None if left is None else left * percent // 100


def _smaller(first: int | None, second: int | None) -> int | None:
    return min((each for each in (first, second) if each is not None), default=None)

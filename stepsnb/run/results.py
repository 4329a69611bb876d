"""What a step and a run came to, as handed to the caller."""

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from ..events import Event, Request
from ..outcome import Outcome
from ..usage import Usage


@dataclass(frozen=True, slots=True)
class StepResult:
    """One executed or skipped step; `text` is an agent's last text or a task's standard output.

    `data` is typed output, and `output` that as JSON.

    `is_final` says that no route may catch how it ended: it did not get to its work, or its money is spent. `tried` is
    how it really ended where a `try:` took a failure or error for good; None elsewhere.
    """

    step_id: str
    name: str
    kind: str
    outcome: Outcome
    reason: str | None = None
    text: str | None = None
    verdict: str | None = None
    note: str | None = None
    data: object = None
    is_final: bool = False
    tried: Outcome | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run as it stands: finished, or open between two cells.

    `outcome` is None while the run is open; `artifacts` maps names to the folders that hold them; `events` is all
    that happened but streamed deltas, in memory.
    """

    run_id: str
    job: str
    outcome: Outcome | None
    error: str | None
    steps: tuple[StepResult, ...]
    artifacts: dict[str, Path] = field(default_factory=dict)
    events: tuple[Event, ...] = ()


def total_usage(events: tuple[Event, ...]) -> Usage:
    """Sum the tokens of every request."""
    total = Usage()
    for event in events:
        if isinstance(event, Request):
            total += event.usage
    return total


def total_cost_usd(events: tuple[Event, ...]) -> Decimal | None:
    """Sum the cost of every request, None when the price is unknown of any that may have been billed."""
    total = Decimal(0)
    for event in events:
        if not isinstance(event, Request):
            continue
        if event.cost_usd is not None:
            total += Decimal(event.cost_usd)
        elif event.may_be_billed:
            return None
    return total

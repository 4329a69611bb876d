"""How a step, job or run ended, and the exit code each ending has."""

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """The ending of a step or run; `skipped` and `reused` are endings of steps that did not execute."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ERRORED = "errored"
    ABORTED = "aborted"
    SKIPPED = "skipped"
    REUSED = "reused"

    @property
    def is_good(self) -> bool:
        """Whether what follows may go on."""
        return self in (Outcome.SUCCEEDED, Outcome.SKIPPED, Outcome.REUSED)


EXIT_CODES = {
    Outcome.SUCCEEDED: 0,
    Outcome.FAILED: 1,
    Outcome.ERRORED: 2,
    Outcome.ABORTED: 130,
    Outcome.SKIPPED: 0,
    Outcome.REUSED: 0,
}

_SEVERITY = (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.ERRORED, Outcome.ABORTED)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst class among `outcomes`; what did not execute counts as succeeded."""
    ranks = [_SEVERITY.index(Outcome.SUCCEEDED if o.is_good else o) for o in outcomes]
    return _SEVERITY[max(ranks, default=0)]

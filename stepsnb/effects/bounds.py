"""What limits one effect: when its clocks run out, how long it may wait, and the words for either."""

from dataclasses import dataclass
from math import inf

from ..errors import ErrorCode
from ..settings import MAX_RETRY_WAIT_S
from .errors import EffectFailed
from .policy import RetryPolicy


class ClockRanOut(EffectFailed):
    """A clock ended an attempt; `__cause__` is what the work raised on being cancelled, if anything."""

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message, code=ErrorCode.DEADLINE_EXCEEDED, retryable=retryable)


@dataclass(frozen=True, slots=True)
class Ends:
    """When something must have ended, in the loop's time, None for never, and what is raised if it has not."""

    at: float | None
    error: ClockRanOut

    def is_over(self, now: float) -> bool:
        """Whether it is too late."""
        return self.at is not None and self.at <= now


class Bounds:
    """The clocks of one effect that was first handed in at `began`; `where` names it at the start of messages."""

    def __init__(self, policy: RetryPolicy, where: str, began: float) -> None:
        self._policy = policy
        self._prefix = f"{where}: " if where else ""
        self._total_at = _later(began, policy.total_timeout_s)

    def of_queue(self, handed_in: float) -> Ends:
        """Return when the attempt that was handed in then is no longer worth starting."""
        limit_s = self._policy.queue_timeout_s
        words = f"while queued: not started within {_seconds(limit_s)} (`queue_timeout_secs`)"
        return self._first(_later(handed_in, limit_s), words)

    def of_run(self, started: float) -> Ends:
        """Return when the attempt that was started then is cut off."""
        limit_s = self._policy.run_timeout_s
        words = f"while running: no result within {_seconds(limit_s)} (`run_timeout_secs`)"
        return self._first(_later(started, limit_s), words)

    def wait_after(self, failure: EffectFailed, number: int, now: float) -> float:
        """Return the seconds between failed attempt `number` and the next one.

        Raises: EffectFailed when that is too long to be waited.
        """
        backoff_s = self._policy.wait_before(number)
        wait_s = max(backoff_s, failure.retry_after_s or 0.0)
        if wait_s > MAX_RETRY_WAIT_S:
            asked = "asked to wait" if wait_s > backoff_s else "the next attempt (`backoff_max_secs`) would wait"
            words = f"{failure}; {asked} {_seconds(wait_s)}, which is longer than {_seconds(MAX_RETRY_WAIT_S)}"
            raise final(failure, number, words)
        if self._total_at is not None and self._total_at <= now + wait_s:
            ended = self._total(f"ends before another attempt, {_seconds(wait_s)} from now; the last one: {failure}")
            raise final(ended, number)
        return wait_s

    def _first(self, at: float | None, words: str) -> Ends:
        """Return which ends first, this clock or the total one; the total one is final, so it wins a draw."""
        if self._total_at is not None and self._total_at <= (inf if at is None else at):
            return Ends(self._total_at, self._total("is used up"))
        return Ends(at, ClockRanOut(f"{self._prefix}deadline exceeded {words}", retryable=True))

    def _total(self, rest: str) -> ClockRanOut:
        limit = _seconds(self._policy.total_timeout_s)
        words = f"deadline exceeded: the total of {limit} (`total_timeout_secs`) {rest}"
        return ClockRanOut(self._prefix + words, retryable=False)


def final(failure: EffectFailed, number: int, words: str | None = None) -> EffectFailed:
    """Return the error an effect ends with after `number` attempts, the last of which failed so."""
    words = str(failure) if words is None else words
    return EffectFailed(
        f"after {number} attempts: {words}" if number > 1 else words,
        code=failure.code,
        retryable=failure.retryable,
        retry_after_s=failure.retry_after_s,
        attempts=number,
    )


def _later(start: float, seconds: float | None) -> float | None:
    return None if seconds is None else start + seconds


def _seconds(value: float | None) -> str:
    return "no time" if value is None else f"{value:,g} s"

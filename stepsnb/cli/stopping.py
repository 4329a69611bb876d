"""Ctrl-C and its relatives as Stop: the run is told, and recorded as aborted, before the command ends."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Protocol

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stoppable(Protocol):
    """A run that can be told to stop."""

    def cancel(self) -> None:
        """Stop soon; may be called again to insist."""


class Unhurried:
    """A run that the first stop lets go on to its end, as whoever wrote its job did not call it interruptible."""

    def __init__(self, handle: Stoppable) -> None:
        self._handle = handle
        self._asked = 0

    def cancel(self) -> None:
        """Stop the run, if that was asked for before."""
        self._asked += 1
        if self._asked > 1:
            self._handle.cancel()
        else:
            # Written past the buffers: a signal may come while the main thread writes to them.
            os.write(
                sys.stderr.fileno(), b"the run goes on to its end (`interruptible: false`); stop again to end it now\n"
            )


class Stops:
    """How often the person asked to stop so far, and the run that is told."""

    def __init__(self) -> None:
        self.count = 0
        self._handle: Stoppable | None = None

    def tell(self, handle: Stoppable) -> None:
        """Pass every stop on to `handle`, also one that came before it was there."""
        self._handle = handle
        if self.count:
            handle.cancel()

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        self.count += 1
        if self._handle is not None:
            self._handle.cancel()


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Stops]:
    """Take every interrupt, termination and hang-up as a stop while inside; only on the main thread."""
    stops = Stops()
    before = {number: signal.signal(number, stops) for number in _STOPS}
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""One job run under the eyes of a person: live text, questions at the terminal, Ctrl-C as Stop."""

import argparse
import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..outcome import Outcome
from .live import LiveText, cost_line
from .options import answers
from .output import say
from .stopping import Stops, Unhurried, stop_on_signals
from .terminal_asker import terminal_asker

if TYPE_CHECKING:
    from pathlib import Path

    from ..api import Run, RunHandle
    from ..events import Emit
    from ..people import Asker


class Watched(NamedTuple):
    """A finished run, how it ended, and whether a person stopped it."""

    run: "Run"
    outcome: Outcome
    was_stopped: bool


class Starter(Protocol):
    """Starts a run with the options of a command."""

    def __call__(
        self,
        *,
        answers: dict[str, str] | list[str] | None,
        store: "Path | None",
        memory: bool,
        asker: "Asker | None",
        parks: bool,
        on_event: "Emit",
    ) -> "RunHandle":
        """Start it and return at once."""
        ...


def watch(start: Starter, args: argparse.Namespace) -> Watched:
    """Run one job to its end; its live text goes beside the JSON value if one is asked for."""
    with stop_on_signals() as stops:
        return watch_until_stopped(start, args, stops)


def watch_until_stopped(
    start: Starter, args: argparse.Namespace, stops: Stops, *, is_interruptible: bool = True
) -> Watched:
    """Run one of several jobs to its end, or to the stop that ends them all.

    Only a second stop reaches a run that is not interruptible.
    """
    out = sys.stderr if args.json else sys.stdout
    if "" not in sys.path:
        sys.path.insert(0, "")  # `{python: module:function}` finds modules of the current folder, as `python -m` does
    handle = start(
        answers=answers(args),
        store=args.store,
        memory=args.memory,
        asker=None if args.no_wait else terminal_asker(out),
        parks=not args.no_wait and not args.memory,
        on_event=LiveText(out),
    )
    stops.tell(handle if is_interruptible else Unhurried(handle))
    handle.wait()
    run = handle.result()
    say(f"job `{run.job}` {run.outcome}", file=out)
    if any(step.kind == "agent" for step in run.steps):
        say(cost_line(run.cost, run.tokens), file=out)
    if run.error:
        say(run.error, file=sys.stderr)
    assert run.outcome is not None, "only a run that is open between two cells has no outcome"
    return Watched(run, run.outcome, stops.count > 0)

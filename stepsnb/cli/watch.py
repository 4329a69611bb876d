"""`stepsnb watch FILE [JOB]`: run jobs whenever a resource they wait for has something new."""

import argparse
import asyncio
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StepsError
from ..outcome import EXIT_CODES, Outcome, worst
from ..settings import WATCH_S
from .options import add_answers, add_json, add_store, add_vars, variables
from .output import print_json, say
from .stopping import Stops, stop_on_signals

if TYPE_CHECKING:
    from ..api import Run
    from ..api.due import Watch
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `watch`."""
    parser = verbs.add_parser(
        "watch",
        help="run jobs whenever there is a new version of what they wait for",
        description="Check the resources of `get` steps with `trigger: true`, and run their jobs when one is new.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the pipeline")
    parser.add_argument(
        "job", nargs="?", metavar="JOB", help="only this job and those that its versions go on to (default: all)"
    )
    parser.add_argument(
        "--interval",
        default="",
        metavar="TIME",
        help=f"between two checks of resources without `check_every:` (default: {WATCH_S:g}s)",
    )
    parser.add_argument("--once", action="store_true", help="check once, run what that leads to, and end")
    add_vars(parser)
    add_answers(parser)
    parser.set_defaults(verb=watch, memory=False, no_wait=True)
    add_store(parser)
    add_json(parser)


def watch(args: argparse.Namespace) -> int:
    """Check again and again until stopped; with `--once` the exit code is that of the worst run."""
    import stepsnb

    from ..api.due import Watch
    from ..api.watching import Check, Pause, Start, read_interval, rounds
    from .watching import watch_until_stopped

    interval_s = read_interval(args.interval, name="--interval")
    pipeline = stepsnb.load(args.file, vars=variables(args))
    watched = Watch(pipeline, args.job, store=args.store, interval_s=interval_s)
    out = sys.stderr if args.json else sys.stdout
    say(f"watching for {', '.join(f'`{job}`' for job in watched.jobs)}; Ctrl-C ends it", file=out)
    runs: list[Run] = []
    outcomes: list[Outcome] = []
    with stop_on_signals() as stops:
        for todo in rounds(watched, once=args.once):
            if stops.count:
                break
            match todo:
                case Check():
                    try:
                        todo.is_due = _check(watched, todo.job, stops)
                    except StepsError as exc:
                        say(f"job `{todo.job}`: {exc}", file=sys.stderr)
                        outcomes.append(Outcome.ERRORED)
                case Start():
                    ended = watch_until_stopped(
                        partial(pipeline.start, todo.job),
                        args,
                        stops,
                        is_interruptible=pipeline.pipeline.job(todo.job).interruptible,
                    )
                    runs.append(ended.run)
                    outcomes.append(ended.outcome)
                case Pause():
                    _wait(todo.seconds, stops)
    if args.json:
        print_json({"runs": [run.to_json() for run in runs]})
    return EXIT_CODES[Outcome.ABORTED if stops.count else worst(outcomes)]


def _check(watched: "Watch", job: str, stops: Stops) -> bool:
    """Look whether a job is due; a stop ends that too."""
    task = watched.start_check(job)
    stops.tell(task)
    task.wait()
    try:
        return task.result()
    except asyncio.CancelledError:
        return False


def _wait(seconds: float | None, stops: Stops) -> None:
    pause = _Pause()
    stops.tell(pause)
    pause.over.wait(seconds)


class _Pause:
    """The time between two checks, which a stop cuts short."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def cancel(self) -> None:
        """End it."""
        self.over.set()

"""`%steps watch`: runs jobs of the loaded pipeline whenever there is something new for them."""

import argparse

from ...settings import WATCH_S
from ..arguments import Arguments
from ..loaded import Loaded
from ..watch import CellWatch
from .verb import Verb, add_again_options, run_options


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps watch",
        "Run jobs when what they wait for (`trigger: true`) has a new version; an interrupt or Stop ends it.",
        example="%steps watch",
    )
    arguments.add_argument(
        "job",
        metavar="JOB",
        nargs="?",
        completes="job",
        help="only this job and those that its versions go on to (default: all)",
    )
    arguments.add_argument(
        "--interval",
        default="",
        metavar="TIME",
        help=f"between two checks of resources without `check_every:` (default: {WATCH_S:g}s)",
    )
    arguments.add_argument("--once", action="store_true", help="check once, run what that leads to, and end")
    add_again_options(arguments, keep=False)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellWatch:
    options = run_options(loaded, args, base=loaded.options)
    return loaded.watch(args.job, options, interval=args.interval, once=args.once)


WATCH = Verb("watch", _arguments(), _call)

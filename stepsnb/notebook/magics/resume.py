"""`%steps resume`: goes on with a run that was cut off or did not succeed."""

import argparse

from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_again_options, run_id_of, run_options


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps resume",
        "Go on with a run that was cut off or did not succeed. What it got done is not done again.",
        example="%steps resume    # the notebook's last run",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="run (default: the last one here)")
    add_again_options(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellRun:
    options = run_options(loaded, args, base=loaded.options)
    return loaded.resume(run_id_of(loaded, args.run), options, keep_as=args.keep_as)


RESUME = Verb("resume", _arguments(), _call)

"""`%steps replay`: runs a job again from one of its steps on, as a new run."""

import argparse

from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_again_options, run_id_of, run_options


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps replay",
        "Run a job again from one of its steps on, as a new run. The run it comes from stays as it is.",
        example="%steps replay --from writer    # the notebook's last run",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="run (default: the last one here)")
    arguments.add_argument(
        "--from", dest="from_step", metavar="STEP", required=True, completes="begun", help="the first step to run again"
    )
    add_again_options(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellRun:
    options = run_options(loaded, args, base=loaded.options)
    return loaded.replay(run_id_of(loaded, args.run), args.from_step, options, keep_as=args.keep_as)


REPLAY = Verb("replay", _arguments(), _call)

"""`%steps run`: a whole job of the loaded pipeline."""

import argparse

from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_run_options, run_options


def _arguments() -> Arguments:
    arguments = Arguments("%steps run", "Run a whole job of the loaded pipeline.", example="%steps run hello --as r")
    arguments.add_argument(
        "job", metavar="JOB", nargs="?", completes="job", help="job to run; the only one needs no name"
    )
    add_run_options(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellRun:
    return loaded.run_job(args.job, run_options(loaded, args, base=loaded.options), keep_as=args.keep_as)


RUN = Verb("run", _arguments(), _call)

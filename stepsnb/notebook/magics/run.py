"""`%steps run`: a whole job of the loaded pipeline."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_background_option, add_run_options, finish_call, run_options


def _arguments() -> Arguments:
    arguments = Arguments("%steps run", "Run a whole job of the loaded pipeline.", example="%steps run hello --as r")
    arguments.add_argument(
        "job", metavar="JOB", nargs="?", completes="job", help="job to run; the only one needs no name"
    )
    add_run_options(arguments)
    add_background_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    options = run_options(loaded, args, base=loaded.options)
    return finish_call(loaded, args, lambda keep_as: loaded.run_job(args.job, options, keep_as=keep_as))


RUN = Verb("run", _arguments(), _call)

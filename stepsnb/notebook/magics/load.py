"""`%steps load`: a pipeline from a file, for the cells that follow."""

import argparse
from pathlib import Path

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_run_options, run_options


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps load",
        "Load a pipeline for the cells that follow; nothing runs yet. The options hold for its runs.",
        example="%steps load hello.yml --answer 'port=8443'",
    )
    arguments.add_argument(
        "file", metavar="FILE", nargs="?", completes="path", help="the pipeline's YAML file; without one, pick it"
    )
    arguments.add_argument("--job", help="the job that `next` and `step` work on; the only one needs no name")
    add_run_options(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    if args.file is None:
        return loaded.pick(run_options(loaded, args))
    pipeline = loaded.load(Path(args.file), run_options(loaded, args), job=args.job, leave_open=True)
    if args.keep_as is not None:
        loaded.shell.push({args.keep_as: pipeline})
    return pipeline


LOAD = Verb("load", _arguments(), _call)

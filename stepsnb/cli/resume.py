"""`stepsnb resume RUN`: go on with a run that was cut off or did not succeed."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..outcome import EXIT_CODES
from .options import add_answers, add_json, add_no_wait, add_store, add_vars, variables
from .output import print_json

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `resume`."""
    parser = verbs.add_parser(
        "resume",
        help="go on with a run that was cut off or did not succeed",
        description="Go on with a run under its own id; what it got done is not done again.",
    )
    parser.add_argument("run", metavar="RUN", help="a run id")
    add_earlier(parser)
    parser.set_defaults(verb=resume, memory=False)


def add_earlier(parser: argparse.ArgumentParser) -> None:
    """Offer what `resume` and `replay` take beside the run."""
    parser.add_argument(
        "--pipeline", type=Path, metavar="FILE", help="a pipeline in the place of the one the run was started with"
    )
    add_vars(parser)
    add_answers(parser)
    add_no_wait(parser)
    add_store(parser)
    add_json(parser)


def resume(args: argparse.Namespace) -> int:
    """Run what is left, print its live text, and exit with the run's outcome's code."""
    from ..api import start_resume
    from .watching import watch

    watched = watch(partial(start_resume, args.run, pipeline=args.pipeline, vars=variables(args)), args)
    if args.json:
        print_json(watched.run.to_json())
    return EXIT_CODES[watched.outcome]

"""`stepsnb run FILE`: run one job and watch it."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..outcome import EXIT_CODES
from .options import add_answers, add_cassette, add_json, add_no_wait, add_store, add_vars, variables
from .output import print_json

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `run`."""
    parser = verbs.add_parser("run", help="run one job of a pipeline", description="Run one job of a pipeline.")
    parser.add_argument("file", type=Path, metavar="FILE", help="the pipeline")
    parser.add_argument("--job", metavar="NAME", help="the job to run; may be left out when there is only one")
    add_vars(parser)
    add_answers(parser)
    add_cassette(parser)
    add_no_wait(parser)
    parser.add_argument("--memory", action="store_true", help="keep nothing of this run in the store")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=run)


def run(args: argparse.Namespace) -> int:
    """Run the job, print its live text, and exit with its outcome's code."""
    import stepsnb

    from .watching import watch

    pipeline = stepsnb.load(args.file, vars=variables(args))
    watched = watch(partial(pipeline.start, args.job, record=args.record, replay=args.replay), args)
    if args.json:
        print_json(watched.run.to_json())
    return EXIT_CODES[watched.outcome]

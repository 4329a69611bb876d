"""`stepsnb replay RUN --from STEP`: run a job again from one of its steps on, as a new run."""

import argparse
from functools import partial
from typing import TYPE_CHECKING

from ..outcome import EXIT_CODES
from .options import variables
from .output import print_json
from .resume import add_earlier

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `replay`."""
    parser = verbs.add_parser(
        "replay",
        help="run a job again from one of its steps on",
        description="Start a new run with what an earlier one had before a step; the earlier one stays as it is.",
    )
    parser.add_argument("run", metavar="RUN", help="a run id")
    parser.add_argument("--from", dest="from_step", required=True, metavar="STEP", help="the first step to run again")
    add_earlier(parser)
    parser.set_defaults(verb=replay, memory=False)


def replay(args: argparse.Namespace) -> int:
    """Run the rest anew, print its live text, and exit with the new run's outcome's code."""
    from ..api import start_replay
    from .watching import watch

    start = partial(start_replay, args.run, from_step=args.from_step, pipeline=args.pipeline, vars=variables(args))
    watched = watch(start, args)
    if args.json:
        print_json(watched.run.to_json())
    return EXIT_CODES[watched.outcome]

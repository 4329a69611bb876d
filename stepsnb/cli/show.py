"""`stepsnb show RUN`: a run of the store as it was when it ended."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `show`."""
    parser = verbs.add_parser("show", help="show a run again: its steps, conversations and outcome")
    parser.add_argument("run", metavar="RUN", help="a run id")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=show)


def show(args: argparse.Namespace) -> int:
    """Print what a notebook shows of the run, as text; `--json` prints what `run --json` does."""
    import stepsnb

    run = stepsnb.show(args.run, store=args.store)
    if args.json:
        print_json(run.to_json())
    else:
        say(run.to_text())
    return 0

"""`stepsnb transcript RUN`: what was said and done in a run, in order."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `transcript`."""
    parser = verbs.add_parser("transcript", help="print the conversations of a run")
    parser.add_argument("run", metavar="RUN", help="a run id")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=transcript)


def transcript(args: argparse.Namespace) -> int:
    """Print the transcript; `--json` gives the rows of the table `transcript`."""
    import stepsnb

    rows = records(stepsnb.transcript(args.run, store=args.store))
    if args.json:
        print_json(rows)
    elif rows:
        from ..view import conversation_text

        say(conversation_text(rows))
    return 0

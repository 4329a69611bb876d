"""`stepsnb diff A B`: what differs between two runs."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `diff`."""
    parser = verbs.add_parser("diff", help="say what differs between two runs, step by step")
    parser.add_argument("a", metavar="A", help="a run id")
    parser.add_argument("b", metavar="B", help="another one")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=diff)


def diff(args: argparse.Namespace) -> int:
    """Print what differs; `--json` gives every row of the table, the same ones too."""
    from ..api import compare_runs

    found = compare_runs(args.a, args.b, store=args.store)
    if args.json:
        print_json(records(found.df()))
    else:
        say(found.to_text())
    return 0

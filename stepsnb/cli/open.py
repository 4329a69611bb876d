"""`stepsnb open RUN/ARTIFACT[/PATH]`: look at the files a run left, without copying them."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `open`."""
    parser = verbs.add_parser("open", help="look at the files of an artifact")
    parser.add_argument("artifact", metavar="RUN/ARTIFACT[/PATH]", help="an artifact of a run, or a file of it")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=show_files)


def show_files(args: argparse.Namespace) -> int:
    """Print each file with its size and the start of its text."""
    from ..api import open_files

    found = open_files(args.artifact, store=args.store)
    if args.json:
        print_json(records(found.df()))
    else:
        say(repr(found))
    return 0

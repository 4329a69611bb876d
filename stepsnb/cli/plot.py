"""`stepsnb plot KIND [RUN]`: a picture of a run, or of all of them, as text."""

import argparse
from typing import TYPE_CHECKING

from .options import add_store
from .output import say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `plot`."""
    parser = verbs.add_parser("plot", help="draw cost, tokens, timeline, context or verdicts as text")
    parser.add_argument("kind", metavar="KIND", help="`cost`, `tokens`, `timeline`, `context` or `verdicts`")
    parser.add_argument("run", nargs="?", metavar="RUN", help="only this run")
    add_store(parser)
    parser.set_defaults(verb=plot)


def plot(args: argparse.Namespace) -> int:
    """Print the picture."""
    from ..api import plot_text

    say(plot_text(args.kind, args.run, store=args.store))
    return 0

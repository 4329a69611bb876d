"""`stepsnb cap [USD|off]`: what all runs of a store may spend together."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `cap`."""
    parser = verbs.add_parser("cap", help="set or show what all runs of a store may spend together")
    parser.add_argument("usd", nargs="?", metavar="USD", help="US dollars from now on, or `off`")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=cap)


def cap(args: argparse.Namespace) -> int:
    """Set the cap where one is given, and print how it stands."""
    import stepsnb

    from ..api.spend_cap import cap_line

    found = stepsnb.cap(None if args.usd == "off" else args.usd, off=args.usd == "off", store=args.store)
    if args.json:
        names = ("usd", "spent_usd", "left_usd")
        print_json({"cap": None if found is None else {name: float(getattr(found, name)) for name in names}})
    else:
        say(cap_line(found))
    return 0

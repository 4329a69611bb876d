"""`%steps cap`: what all runs of the notebook's store may spend together."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps cap",
        "Set or show what all runs of a store may spend together.",
        example="%steps cap 2.00",
    )
    arguments.add_argument("usd", metavar="USD", nargs="?", help="US dollars from now on, or `off`")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> None:
    from ... import api
    from ...api.spend_cap import cap_line

    found = api.cap(None if args.usd == "off" else args.usd, off=args.usd == "off", store=store_of(loaded, args))
    print(cap_line(found))


CAP = Verb("cap", _arguments(), _call)

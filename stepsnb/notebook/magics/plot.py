"""`%steps plot`: a picture of a run, or of all of them."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps plot",
        "Draw cost, tokens, timeline, context or verdicts.",
        example="%steps plot timeline RUN",
    )
    arguments.add_argument(
        "kind",
        metavar="KIND",
        help="`cost`, `tokens`, `timeline`, `context` or `verdicts`; the middle two are of a run",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="only this run")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    run = args.run or (loaded.last_run_id if args.kind in ("timeline", "context") else None)
    return api.plot(args.kind, run, store=store_of(loaded, args))


PLOT = Verb("plot", _arguments(), _call)

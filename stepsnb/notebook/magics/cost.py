"""`%steps cost`: what runs cost, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps cost", "Show tokens and dollars by run, step and model, newest run first.", example="%steps cost"
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="only this run")
    arguments.add_argument(
        "--prices", metavar="FILE", completes="path", help="other prices than those of then: a YAML file with `prices:`"
    )
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.cost(args.run, prices=args.prices, store=store_of(loaded, args))


COST = Verb("cost", _arguments(), _call)

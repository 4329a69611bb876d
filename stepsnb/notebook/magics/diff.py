"""`%steps diff`: what differs between two runs, side by side."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, run_id_of, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps diff",
        "Show what differs between two runs, side by side.",
        example="%steps diff A B    # two run ids",
    )
    arguments.add_argument("a", metavar="A", completes="run", help="a run")
    arguments.add_argument("b", metavar="B", nargs="?", completes="run", help="another (default: the last one here)")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.compare_runs(args.a, run_id_of(loaded, args.b), store=store_of(loaded, args))


DIFF = Verb("diff", _arguments(), _call)

"""`%steps store`: how large the store is, and runs taken out of it."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps store",
        "Say how large the store is, or remove runs from it for good.",
        example="%steps store clean --keep 20",
    )
    arguments.add_argument(
        "action", metavar="ACTION", nargs="?", default="size", help="`size` (default), or `clean` to remove runs"
    )
    arguments.add_argument("runs", metavar="RUN", nargs="*", completes="run", help="clean: remove these runs")
    arguments.add_argument("--keep", type=int, metavar="N", help="clean: keep the latest N finished runs of each job")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.store_verb(args.action, runs=args.runs, keep=args.keep, store=store_of(loaded, args))


STORE = Verb("store", _arguments(), _call)

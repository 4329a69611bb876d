"""`%steps show`: a run of the store again, as its cell showed it."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, run_id_of, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps show",
        "Show a run again: its steps, conversations and outcome.",
        example="%steps show    # the notebook's last run",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="run (default: the last one here)")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.show(run_id_of(loaded, args.run), store=store_of(loaded, args))


SHOW = Verb("show", _arguments(), _call)

"""`%steps freeze`: hold what a run did as asserts of its pipeline."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, run_id_of, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps freeze",
        "Make what a run did into asserts of its pipeline.",
        example="%steps freeze --write    # the notebook's last run",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="run (default: the last one here)")
    arguments.add_argument("--write", action="store_true", help="write them into the pipeline's file")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    frozen = api.freeze(run_id_of(loaded, args.run), store=store_of(loaded, args))
    if args.write:
        frozen.write()
    return frozen


FREEZE = Verb("freeze", _arguments(), _call)

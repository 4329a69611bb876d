"""`%steps transcript`: everything said and done in a run, to read; `.df()` of it is the table."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, run_id_of, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps transcript",
        "Show every message, tool call and result of a run.",
        example="%steps transcript    # the notebook's last run",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="run (default: the last one here)")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api
    from ..transcript import Transcript

    run_id = run_id_of(loaded, args.run)
    return Transcript(run_id, api.transcript(run_id, store=store_of(loaded, args)))


TRANSCRIPT = Verb("transcript", _arguments(), _call)

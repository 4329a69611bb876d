"""`%steps trajectory`: what the agents of a run did, call by call, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, run_id_of, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps trajectory",
        "Show the tool calls of a run in order; a sub-agent's follow the call it answers.",
        example="%steps trajectory    # the notebook's last run",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="run (default: the last one here)")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.trajectory(run_id_of(loaded, args.run), store=store_of(loaded, args))


TRAJECTORY = Verb("trajectory", _arguments(), _call)

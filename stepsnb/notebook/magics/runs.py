"""`%steps runs`: the runs in the store, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments("%steps runs", "List the runs in the store, newest first.", example="%steps runs")
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="only this run")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    frame = api.runs(store=store_of(loaded, args))
    return frame if args.run is None else frame[frame["run_id"] == args.run]


RUNS = Verb("runs", _arguments(), _call)

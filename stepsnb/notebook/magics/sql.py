"""`%steps sql`: read the store with DuckDB's SQL, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps sql",
        "Read the tables of the store with SQL; it changes nothing.",
        example="%steps sql select job, outcome from runs",
    )
    arguments.add_argument("query", metavar="QUERY", nargs="+", help="a query; quote what holds quotes of its own")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.sql(" ".join(args.query), store=store_of(loaded, args))


SQL = Verb("sql", _arguments(), _call)

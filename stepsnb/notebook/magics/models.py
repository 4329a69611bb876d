"""`%steps models`: how reliable each model was, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps models",
        "Show how often each model failed or had to be mended.",
        example="%steps models",
    )
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="only this run")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.models(args.run, store=store_of(loaded, args))


MODELS = Verb("models", _arguments(), _call)

"""`%steps validate`: whether pipelines load, and everything that is wrong with them."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps validate",
        "Check pipelines without running them.",
        example="%steps validate pipeline.yml",
    )
    arguments.add_argument("files", metavar="FILE", nargs="+", completes="path", help="the pipelines")
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.validate(*args.files)


VALIDATE = Verb("validate", _arguments(), _call)

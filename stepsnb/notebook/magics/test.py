"""`%steps test`: run every job of pipelines in a throw-away store and hold them to their asserts."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps test",
        "Run every job of pipelines and check their asserts; nothing is kept.",
        example="%steps test pipeline.yml",
    )
    arguments.add_argument(
        "files", metavar="FILE", nargs="*", completes="path", help="the pipelines (default: the loaded one)"
    )
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.run_tests(*(args.files or [loaded.pipeline]))


TEST = Verb("test", _arguments(), _call)

"""`%steps preflight`: whether the models and MCP servers of the loaded pipeline are there, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps preflight",
        "Ask models and MCP servers whether they are there; nothing runs.",
        example="%steps preflight",
    )
    arguments.add_argument("job", metavar="JOB", nargs="?", completes="job", help="only what the steps of this job ask")
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    return api.preflight(loaded.pipeline, args.job)


PREFLIGHT = Verb("preflight", _arguments(), _call)

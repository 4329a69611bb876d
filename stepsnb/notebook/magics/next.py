"""`%steps next`: the next step of the loaded job, in its open run."""

import argparse

from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_keep_option


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps next",
        "Run the next step of the loaded job; the first one opens the run, the plan's last one ends it.",
        example="%steps next",
    )
    add_keep_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellRun:
    return loaded.go_on(lambda run: run.next(), keep_as=args.keep_as)


NEXT = Verb("next", _arguments(), _call)

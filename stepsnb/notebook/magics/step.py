"""`%steps step`: the loaded job up to a step of its plan, in its open run."""

import argparse

from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_keep_option


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps step",
        "Run the loaded job up to and including a step; it goes on from where the open run stands.",
        example="%steps step writer",
    )
    arguments.add_argument("step", metavar="NAME", completes="step", help="step, as named in the plan")
    add_keep_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellRun:
    return loaded.step(args.step, keep_as=args.keep_as)


STEP = Verb("step", _arguments(), _call)

"""`%%agent`: prompt prototyping, where the cell's body is the message."""

import argparse

from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_run_options, run_options


def _arguments() -> Arguments:
    arguments = Arguments(
        "%%agent",
        "Send this cell to an agent of the loaded pipeline; it is a run of its own.",
        example="%%agent writer --use paragraph --files data/\nRewrite ((paragraph)) for a ten-year-old.",
    )
    arguments.add_argument("agent", metavar="NAME", completes="agent", help="agent, as named in the pipeline")
    add_run_options(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellRun:
    options = run_options(loaded, args, base=loaded.options)
    return loaded.run_message(args.agent, (body or "").strip(), options, keep_as=args.keep_as)


AGENT = Verb("agent", _arguments(), _call)

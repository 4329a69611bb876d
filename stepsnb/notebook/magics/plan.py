"""`%steps plan`: what a run of the loaded job would do with each step, and why, as a DataFrame."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps plan",
        "Say which steps would run, be reused or be skipped, and why; nothing runs.",
        example="%steps plan",
    )
    arguments.add_argument(
        "job", metavar="JOB", nargs="?", completes="job", help="job to plan; the only one needs no name"
    )
    arguments.add_argument(
        "--use", nargs="+", default=[], metavar="NAME", completes="variable", help="Python variables for ((NAME))"
    )
    arguments.add_argument(
        "--files", nargs="+", metavar="PATH", completes="path", help="files that the run would get as `files`"
    )
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    options = loaded.options
    return loaded.pipeline.plan(
        args.job or loaded.job,
        vars={**options.vars, **loaded.variables(args.use)} or None,
        files=args.files or options.files,
        store=store_of(loaded, args),
    )


PLAN = Verb("plan", _arguments(), _call)

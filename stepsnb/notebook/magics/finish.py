"""`%steps finish`: ends the open run where it stands."""

import argparse

from ...errors import InputError
from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_keep_option


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps finish",
        "End the open run where it stands; the job's assert is judged.",
        example="%steps finish",
    )
    add_keep_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> CellRun:
    if not loaded.has_open_run:
        raise InputError("no run is open; `%steps next`, `%steps step NAME` or a list of steps opens one")
    return loaded.go_on(lambda run: run.finish(), keep_as=args.keep_as)


FINISH = Verb("finish", _arguments(), _call)

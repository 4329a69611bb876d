"""`%steps open`: the files a run left, looked at without copying them."""

import argparse
import re

from ...errors import InputError
from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, run_id_of, store_of

_RUN_ID = re.compile(r"[0-9A-Z]{8}")
"""What the id of a run looks like; anything else in front of the first slash is an artifact of the last one."""


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps open",
        "Look at the files of an artifact.",
        example="%steps open report    # the artifact `report` of the notebook's last run",
    )
    arguments.add_argument(
        "artifact",
        metavar="RUN/ARTIFACT/PATH",
        completes="artifact",
        help="artifact, or a file of it; without RUN, of the last run here",
    )
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    run_id, _, artifact = args.artifact.partition("/")
    if not _RUN_ID.fullmatch(run_id):
        run_id, artifact = "", args.artifact
    if not artifact:
        raise InputError(f"%steps open: `{args.artifact}` names no artifact; write RUN/ARTIFACT")
    return api.open_files(f"{run_id_of(loaded, run_id or None)}/{artifact}", store=store_of(loaded, args))


OPEN = Verb("open", _arguments(), _call)

"""`%steps copy`: an artifact's files out of the store, into a folder of the user's."""

import argparse

from ...errors import InputError
from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_store_option, run_id_of, store_of


def _arguments() -> Arguments:
    arguments = Arguments(
        "%steps copy",
        "Copy an artifact of a run into a folder; nothing is overwritten.",
        example="%steps copy report out/    # the artifact `report` of the notebook's last run",
    )
    arguments.add_argument(
        "artifact", metavar="RUN/ARTIFACT", completes="artifact", help="artifact; without RUN, of the last run here"
    )
    arguments.add_argument("target", metavar="TARGET", completes="path", help="folder to copy into")
    add_store_option(arguments)
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ... import api

    run_id, _, artifact = args.artifact.rpartition("/")
    if not artifact:
        raise InputError(f"%steps copy: `{args.artifact}` names no artifact; write RUN/ARTIFACT")
    return api.copy(run_id_of(loaded, run_id or None), artifact, args.target, store=store_of(loaded, args))


COPY = Verb("copy", _arguments(), _call)

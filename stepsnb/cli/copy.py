"""`stepsnb copy RUN ARTIFACT [TARGET]`: take a run's files out of the store."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `copy`."""
    parser = verbs.add_parser("copy", help="copy an artifact of a run into a folder")
    parser.add_argument("run", metavar="RUN", help="a run id")
    parser.add_argument("artifact", metavar="ARTIFACT", help="name of the artifact")
    parser.add_argument("target", nargs="?", type=Path, metavar="TARGET", help="folder to fill (default: ./ARTIFACT)")
    parser.add_argument("--force", action="store_true", help="replace files that are there already")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=copy)


def copy(args: argparse.Namespace) -> int:
    """Copy the files and name them."""
    import stepsnb

    target = args.target or Path(args.artifact)
    copied = [str(path) for path in stepsnb.copy(args.run, args.artifact, target, store=args.store, force=args.force)]
    if args.json:
        print_json({"copied": copied})
    else:
        for path in copied:
            say(path)
    return 0

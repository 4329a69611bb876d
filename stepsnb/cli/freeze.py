"""`stepsnb freeze RUN [--write]`: hold what a run did as asserts of its pipeline."""

import argparse
import sys
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `freeze`."""
    parser = verbs.add_parser("freeze", help="make what a run did into asserts of its pipeline")
    parser.add_argument("run", metavar="RUN", help="a run id")
    parser.add_argument("--write", action="store_true", help="write them into the pipeline's file")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=freeze)


def freeze(args: argparse.Namespace) -> int:
    """Print what changes, and write it when asked."""
    import stepsnb

    frozen = stepsnb.freeze(args.run, store=args.store)
    file = frozen.write() if args.write else None
    if args.json:
        print_json({"text": frozen.text, "notes": frozen.notes, "written": None if file is None else str(file)})
        return 0
    say(frozen.diff() or "nothing to add")
    for note in frozen.notes:
        say(note, file=sys.stderr)
    if file is not None:
        say(f"written to {file}")
    return 0

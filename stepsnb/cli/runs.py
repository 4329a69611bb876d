"""`stepsnb runs`: what ran, newest first."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `runs`."""
    parser = verbs.add_parser("runs", help="list the runs of a store, newest first")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=runs)


def runs(args: argparse.Namespace) -> int:
    """Print one row a run."""
    import stepsnb

    rows = records(stepsnb.runs(store=args.store))
    if args.json:
        print_json(rows)
    elif not rows:
        say("no runs yet")
    else:
        cells = [
            [str(row["run_id"]), str(row["job"]), str(row["outcome"] or row["state"]), _minute(row["started_at"])]
            for row in rows
        ]
        print_table(["RUN", "JOB", "OUTCOME", "STARTED (UTC)"], cells)
    return 0


def _minute(value: object) -> str:
    return "" if value is None else str(value)[:19].replace("T", " ")

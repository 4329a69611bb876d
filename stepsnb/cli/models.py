"""`stepsnb models [RUN]`: how reliable each model was."""

import argparse
from typing import TYPE_CHECKING

from ..messages import Mark
from .options import add_json, add_store
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `models`."""
    parser = verbs.add_parser("models", help="how often each model failed or had to be mended")
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run id: this run only")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=models)


def models(args: argparse.Namespace) -> int:
    """Print one row a model; the last column names what was wrong with its replies, and how often."""
    import stepsnb

    rows = records(stepsnb.models(args.run, store=args.store))
    if args.json:
        print_json(rows)
    elif not rows:
        say("no model has been used yet" if args.run is None else f"run `{args.run}` used no model")
    else:
        cells = [
            [
                str(row["model"] or ""),
                f"{row['requests']:,}",
                f"{row['failed_requests']:,}",
                f"{row['retries']:,}",
                f"{row['replies']:,}",
                f"{row['tool_calls']:,}",
                f"{row['failed_tool_calls']:,}",
                ", ".join(f"{row[mark]:,} {mark}" for mark in Mark if row[mark]),
            ]
            for row in rows
        ]
        header = ["MODEL", "REQUESTS", "FAILED", "RETRIES", "REPLIES", "CALLS", "FAILED CALLS", "MARKS"]
        print_table(header, cells, right=header[1:-1])
    return 0

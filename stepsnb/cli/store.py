"""`stepsnb store [clean]`: how large the store is, and runs taken out of it."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `store`."""
    parser = verbs.add_parser("store", help="say how large the store is, or remove runs from it")
    parser.add_argument("action", nargs="?", default="size", metavar="ACTION", help="`size` (default) or `clean`")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="clean: remove these runs")
    parser.add_argument("--keep", type=int, metavar="N", help="clean: keep the latest N finished runs of each job")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=store)


def store(args: argparse.Namespace) -> int:
    """Print one row a part of the store, or the runs that were removed."""
    from ..api import store_verb

    rows = records(store_verb(args.action, runs=args.runs, keep=args.keep, store=args.store))
    if args.json:
        print_json(rows)
    elif args.action == "size":
        cells = [[str(row["part"]), f"{row['files']:,}", f"{row['bytes']:,}"] for row in rows]
        print_table(["PART", "FILES", "BYTES"], cells, right=("FILES", "BYTES"))
    else:
        say(f"removed {len(rows)} runs" + "".join(f"\n{row['run_id']}" for row in rows))
    return 0

"""`stepsnb sql QUERY`: read the store with DuckDB's SQL."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, print_table, records

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `sql`."""
    parser = verbs.add_parser("sql", help="read the tables of the store with SQL; it changes nothing")
    parser.add_argument("query", metavar="QUERY", help="such as 'select job, count(*) from runs group by job'")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=sql)


def sql(args: argparse.Namespace) -> int:
    """Print the rows of the answer."""
    import stepsnb

    frame = stepsnb.sql(args.query, store=args.store)
    rows = records(frame)
    if args.json:
        print_json(rows)
    else:
        names = [str(name) for name in frame.columns]
        print_table(names, [["" if row[name] is None else str(row[name]) for name in names] for row in rows])
    return 0

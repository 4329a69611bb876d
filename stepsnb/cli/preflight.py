"""`stepsnb preflight FILE [JOB]`: whether the models and MCP servers of a pipeline are there."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .options import add_json, add_vars, variables
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    from .options import Verbs

_SHOWN = ("name", "source", "model", "address", "status")
_USABLE = ("ready", "unlisted", "not probed")


def add_verb(verbs: "Verbs") -> None:
    """Offer `preflight`."""
    parser = verbs.add_parser("preflight", help="ask models and MCP servers whether they are there; nothing runs")
    parser.add_argument("file", type=Path, metavar="FILE", help="the pipeline")
    parser.add_argument("job", nargs="?", metavar="JOB", help="only what the steps of this job ask")
    parser.add_argument("--job", dest="named_job", metavar="NAME", help="the same, as `run` has it")
    add_vars(parser)
    add_json(parser)
    parser.set_defaults(verb=preflight)


def preflight(args: argparse.Namespace) -> int:
    """Print one row for each model and server; 0 when every agent has one model that can be used, and its servers."""
    import stepsnb

    rows = records(stepsnb.preflight(stepsnb.load(args.file, vars=variables(args)), args.job or args.named_job))
    if args.json:
        print_json(rows)
    elif not rows:
        say(f"`{args.file}` asks no model")
    else:
        cells = [["" if row[name] is None else str(row[name]) for name in _SHOWN] for row in rows]
        print_table([name.upper() for name in _SHOWN], cells)
        for detail in dict.fromkeys(str(row["detail"]) for row in rows if row["detail"]):
            say(detail)
    good = {(row["kind"], row["name"]) for row in rows if row["status"] in _USABLE}
    return 0 if all((row["kind"], row["name"]) in good for row in rows) else 1

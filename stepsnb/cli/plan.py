"""`stepsnb plan FILE [JOB]`: what a run would do with each step, and why."""

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from .options import add_json, add_store, add_vars, variables
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    from .options import Verbs

_ACTIONS = ("run", "reuse", "skip")


def add_verb(verbs: "Verbs") -> None:
    """Offer `plan`."""
    parser = verbs.add_parser("plan", help="say what a run would do with each step, and why; nothing runs")
    parser.add_argument("file", type=Path, metavar="FILE", help="the pipeline")
    parser.add_argument("job", nargs="?", metavar="JOB", help="job to plan; the only one needs no name")
    parser.add_argument("--job", dest="named_job", metavar="NAME", help="the same, as `run` has it")
    add_vars(parser)
    parser.add_argument(
        "--files", nargs="+", default=[], metavar="PATH", help="files that the run would get as the artifact `files`"
    )
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=plan)


def plan(args: argparse.Namespace) -> int:
    """Print one row a step; with `--json` one object with the job's name, a count for each action, and `steps`."""
    import stepsnb

    pipeline = stepsnb.load(args.file, vars=variables(args))
    chosen = args.job or args.named_job
    rows = records(pipeline.plan(chosen, files=args.files or None, store=args.store))
    counts = Counter(str(row["action"]) for row in rows)
    if args.json:
        job = pipeline.pipeline.job(chosen).name
        print_json({"job": job, **{action: counts[action] for action in _ACTIONS}, "steps": rows})
        return 0
    depths: dict[object, int] = {None: -1}
    cells = []
    for row in rows:
        depth = depths[row["path"]] = depths.get(row["parent"], -1) + 1
        cells.append(["· " * depth + str(row["step"]), *(str(row[name]) for name in ("kind", "action", "reason"))])
    print_table(["STEP", "KIND", "ACTION", "REASON"], cells)
    say(", ".join(f"{counts[action]} {action}" for action in _ACTIONS))
    return 0

"""`stepsnb validate FILE…`: load pipelines and say what is wrong with them, all at once."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..outcome import EXIT_CODES, Outcome
from .options import add_json, add_vars, variables
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `validate`."""
    parser = verbs.add_parser("validate", help="check pipelines without running them")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="the pipelines")
    add_vars(parser)
    add_json(parser)
    parser.set_defaults(verb=validate)


def validate(args: argparse.Namespace) -> int:
    """Exit with 0 when every file loads, else print each problem on a line of its own and exit with 2."""
    import stepsnb

    given = variables(args)
    rows: list[dict[str, object]] = []
    for file in args.files:
        try:
            pipeline = stepsnb.load(file, vars=given)
        except ConfigError as exc:
            say(str(exc), file=sys.stderr)
            rows.append({"file": str(file), "valid": False, "jobs": [], "problems": str(exc).splitlines()})
        else:
            rows.append({"file": str(file), "valid": True, "jobs": pipeline.jobs, "problems": []})
            if not args.json:
                say(f"{file}: valid; jobs: {', '.join(pipeline.jobs)}")
    is_valid = all(row["valid"] for row in rows)
    if args.json:
        print_json({"valid": is_valid, "files": rows})
    return EXIT_CODES[Outcome.SUCCEEDED if is_valid else Outcome.ERRORED]

"""`stepsnb trajectory RUN`: the tool calls of a run, in order."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    from .options import Verbs

_ARGUMENT_CHARACTERS = 80


def add_verb(verbs: "Verbs") -> None:
    """Offer `trajectory`."""
    parser = verbs.add_parser("trajectory", help="list the tool calls of a run")
    parser.add_argument("run", metavar="RUN", help="a run id")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=trajectory)


def trajectory(args: argparse.Namespace) -> int:
    """Print one row a call, a sub-agent's indented below the call it answers."""
    import stepsnb

    from ..visible import one_line

    rows = records(stepsnb.trajectory(args.run, store=args.store))
    if args.json:
        print_json(rows)
    elif not rows:
        say(f"run `{args.run}` made no tool call")
    else:
        cells = [
            [
                "· " * int(str(row["depth"])) + str(row["step"] or ""),
                str(row["turn"]),
                str(row["tool"] or ""),
                one_line(str(row["args"]), _ARGUMENT_CHARACTERS),
                "" if row["duration_s"] is None else f"{row['duration_s']:.1f} s",
                _how(row),
            ]
            for row in rows
        ]
        print_table(["STEP", "TURN", "TOOL", "ARGUMENTS", "DURATION", ""], cells, right=("TURN", "DURATION"))
    return 0


def _how(row: dict[str, object]) -> str:
    ended = {True: "", False: "failed", None: "cut off"}[row["ok"]]  # type: ignore[index]  # JSON's true, false or null
    code = str(row["code"] or "")
    return ", ".join(word for word in (ended, code, *(name for name in ("repaired", "promoted") if row[name])) if word)

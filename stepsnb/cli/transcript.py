"""`stepsnb transcript RUN`: what was said and done in a run, in order."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from .options import add_json, add_store
from .output import print_json, records, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `transcript`."""
    parser = verbs.add_parser("transcript", help="print the conversations of a run")
    parser.add_argument("run", metavar="RUN", help="a run id")
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=transcript)


def transcript(args: argparse.Namespace) -> int:
    """Print the transcript; `--json` gives the rows of the table `transcript`."""
    import stepsnb

    rows = records(stepsnb.transcript(args.run, store=args.store))
    if args.json:
        print_json(rows)
        return 0
    step = None
    for row in rows:
        if row["step"] != step:
            step = row["step"]
            say(f"== {step} ==")
        say(_message(row))
    return 0


def _message(row: dict[str, Any]) -> str:
    """Return one message as text: who, what was said, which tools were called."""
    who = f"tool {row['tool']}" if row["role"] == "tool" else row["role"]
    calls = [f"{call['name']} {call['arguments']}" for call in json.loads(row["tool_calls"] or "[]")]
    return "\n".join([f"[{who}] {row['text'] or ''}".rstrip(), *(f"    calls {call}" for call in calls)])

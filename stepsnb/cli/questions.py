"""`stepsnb questions [RUN]` and `stepsnb approvals [RUN]`: what people were asked."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, print_table, records, say

if TYPE_CHECKING:
    import pandas as pd

    from .options import Verbs

_JSON = ("id", "run_id", "agent", "question", "options", "asked_at", "answered_at", "answer", "source")


def add_verb(verbs: "Verbs") -> None:
    """Offer `questions` and `approvals`."""
    for name, what in (("questions", "list what people were asked"), ("approvals", "list what people were to approve")):
        parser = verbs.add_parser(name, help=what)
        parser.add_argument("run", nargs="?", metavar="RUN", help="a run id: this run only")
        add_store(parser)
        add_json(parser)
        parser.set_defaults(verb=questions if name == "questions" else approvals)


def questions(args: argparse.Namespace) -> int:
    """Print one row a question, oldest first."""
    import stepsnb

    return _print(stepsnb.questions(args.run, store=args.store), args, "nobody was asked anything yet")


def approvals(args: argparse.Namespace) -> int:
    """Print one row an approval, oldest first."""
    import stepsnb

    return _print(stepsnb.approvals(args.run, store=args.store), args, "nothing was to be approved yet")


def _print(frame: "pd.DataFrame", args: argparse.Namespace, nothing: str) -> int:
    rows = records(frame)
    if args.json:
        print_json([{name: row[name] for name in _JSON} for row in rows])
    elif not rows:
        say(nothing)
    else:
        cells = [
            [
                str(row["id"]),
                str(row["agent"] or "approval"),
                str(row["asked_at"])[:19].replace("T", " "),
                _asked(str(row["question"]), row["options"]),
                str(row["answer"] or ""),
                str(row["source"] or ""),
            ]
            for row in rows
        ]
        print_table(["ID", "ASKED BY", "ASKED (UTC)", "QUESTION", "ANSWER", "SOURCE"], cells)
    return 0


def _asked(question: str, options: object) -> str:
    return f"{question} ({' | '.join(map(str, options))})" if isinstance(options, list) and options else question

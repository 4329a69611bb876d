"""`stepsnb answer ID TEXT`, `stepsnb approve ID` and `stepsnb reject ID`: answers from anywhere."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json, add_store
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `answer`, `approve` and `reject`."""
    parser = verbs.add_parser("answer", help="answer a question of any run")
    parser.add_argument("id", metavar="ID", help="the question's id")
    parser.add_argument("text", metavar="TEXT", help="the answer, or the number of an option")
    _finish(parser, answer)
    for name, what in (
        ("approve", "let a run that waits for approval go on"),
        ("reject", "refuse what a run asks for"),
    ):
        parser = verbs.add_parser(name, help=what)
        parser.add_argument("id", metavar="ID", help="the approval's id")
        parser.add_argument("--reason", metavar="TEXT", help="why")
        _finish(parser, approve if name == "approve" else reject)


def _finish(parser: argparse.ArgumentParser, verb: object) -> None:
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=verb)


def answer(args: argparse.Namespace) -> int:
    """Answer a question; a later answer than the first is refused."""
    import stepsnb

    return _told(args, stepsnb.answer(args.id, args.text, store=args.store))


def approve(args: argparse.Namespace) -> int:
    """Approve."""
    import stepsnb

    return _told(args, stepsnb.approve(args.id, reason=args.reason, store=args.store))


def reject(args: argparse.Namespace) -> int:
    """Reject."""
    import stepsnb

    return _told(args, stepsnb.reject(args.id, reason=args.reason, store=args.store))


def _told(args: argparse.Namespace, text: str) -> int:
    if args.json:
        print_json({"id": args.id, "answer": text})
    else:
        say(f"answered {args.id}: {text}")
    return 0

"""`%steps questions` and `%steps approvals`: what people were asked, and `answer`, `approve`, `reject` for it."""

import argparse
from collections.abc import Callable

from ..arguments import Arguments
from ..cell import has_front_end
from ..loaded import Loaded
from .verb import Verb, add_store_option, store_of


def _listing(name: str, summary: str) -> Verb:
    arguments = Arguments(f"%steps {name}", summary, example=f"%steps {name}")
    arguments.add_argument("run", metavar="RUN", nargs="?", completes="run", help="only this run")
    add_store_option(arguments)

    def call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
        from ... import api

        table = api.questions if name == "questions" else api.approvals
        shown = table(args.run, store=store_of(loaded, args))
        if shown["answered_at"].isna().any() and has_front_end(loaded.shell):
            from ..inbox_panel import InboxPanel

            inbox = InboxPanel(store_of(loaded, args))
            if not inbox.is_empty:
                inbox.open()
        return shown

    return Verb(name, arguments, call)


def _answer() -> Verb:
    arguments = Arguments(
        "%steps answer", "Answer a question of any run, from any kernel.", example="%steps answer RUN-1 Bergen"
    )
    arguments.add_argument("id", metavar="ID", help="the question's id")
    arguments.add_argument("text", metavar="TEXT", nargs="+", help="the answer, or the number of an option")
    add_store_option(arguments)

    def call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> None:
        from ... import api

        print(f"answered {args.id}: {api.answer(args.id, ' '.join(args.text), store=store_of(loaded, args))}")

    return Verb("answer", arguments, call)


def _decision(name: str, summary: str) -> Verb:
    arguments = Arguments(f"%steps {name}", summary, example=f"%steps {name} RUN-1 --reason 'not today'")
    arguments.add_argument("id", metavar="ID", help="the approval's id")
    arguments.add_argument("--reason", metavar="TEXT", help="why")
    add_store_option(arguments)

    def call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> None:
        from ... import api

        decide: Callable[..., str] = api.approve if name == "approve" else api.reject
        print(f"answered {args.id}: {decide(args.id, reason=args.reason, store=store_of(loaded, args))}")

    return Verb(name, arguments, call)


QUESTIONS = _listing("questions", "Show what people were asked, with the answers.")
APPROVALS = _listing("approvals", "Show what people were to approve, and what they said.")
ANSWER = _answer()
APPROVE = _decision("approve", "Let a run that waits for approval go on.")
REJECT = _decision("reject", "Refuse what a run asks for approval of.")

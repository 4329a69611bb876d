"""`%steps help`: every magic on one screen, with an example that runs."""

import argparse
from collections.abc import Sequence

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def help_verb(others: Sequence[Verb]) -> Verb:
    """Build the verb that shows all the `others`."""

    def call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> None:
        print(_help_text(others))

    arguments = Arguments("%steps help", "Show every magic with an example.", example="%steps help")
    return Verb("help", arguments, call)


def _help_text(verbs: Sequence[Verb]) -> str:
    """One line an example, beside what it does; each magic tells its options with `--help`."""
    examples = [(verb.arguments.example.split("    #")[0].splitlines(), verb.arguments.summary) for verb in verbs]
    width = max(len(lines[0]) for lines, _ in examples) + 2
    shown = []
    for lines, summary in examples:
        shown.append(f"{lines[0]:<{width}}{_first_sentence(summary)}")
        shown.extend("    " + line for line in lines[1:])
    return "\n".join([*shown, "", "Options: --help after any of these. In Python: stepsnb.load(...).run()."])


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].split("; ")[0].rstrip(".")

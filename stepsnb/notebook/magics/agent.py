"""`%%agent`: prompt prototyping, where the cell's body is the message."""

import argparse

from ...errors import InputError
from ..arguments import Arguments
from ..cell import CellRun
from ..loaded import Loaded
from .verb import Verb, add_background_option, add_run_options, finish_call, run_options


def _arguments() -> Arguments:
    arguments = Arguments(
        "%%agent",
        "Send this cell to an agent of the loaded pipeline; it is a run of its own.",
        example="%%agent writer --use paragraph --files data/\nRewrite ((paragraph)) for a ten-year-old.",
    )
    arguments.add_argument("agent", metavar="NAME", completes="agent", help="agent, as named in the pipeline")
    add_run_options(arguments)
    add_background_option(arguments)
    arguments.add_argument(
        "--image",
        nargs="+",
        metavar="WHAT",
        action="extend",
        default=[],
        completes="variable",
        help="images that go with the message: files, or variables that hold a figure or an image",
    )
    arguments.add_argument(
        "--vary",
        nargs="+",
        metavar="DIAL=A,B",
        action="extend",
        default=[],
        help="try all values of dials (model, temperature, …) and show a table; a line `---` parts messages to try",
    )
    arguments.add_argument("--verdicts", nargs="+", metavar="NAME", help="with --vary: what the agent decides between")
    return arguments


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    options = run_options(loaded, args, base=loaded.options)
    if args.vary:
        if args.image:
            raise InputError("%%agent: `--vary` tries messages without images; leave `--image` out")
        if args.background:
            raise InputError("%%agent: `--vary` shows its table at the end of the cell; leave `--background` out")
        return loaded.run_variants(
            args.agent, _messages(body), _dials(args.vary), options, verdicts=args.verdicts, keep_as=args.keep_as
        )
    if args.verdicts:
        raise InputError("%%agent: `--verdicts` goes with `--vary`; a pipeline's steps have `verdicts:`")
    message = (body or "").strip()

    def prepare(keep_as: str | None) -> CellRun:
        return loaded.run_message(args.agent, message, options, images=args.image, keep_as=keep_as)

    return finish_call(loaded, args, prepare)


def _messages(body: str | None) -> list[str]:
    """Part the cell where a line is `---`."""
    parts: list[list[str]] = [[]]
    for line in (body or "").splitlines():
        if line.strip() == "---":
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(lines).strip() for lines in parts]


def _dials(given: list[str]) -> dict[str, list[str]]:
    dials: dict[str, list[str]] = {}
    for each in given:
        name, equals, values = each.partition("=")
        if not equals or not name or not values:
            raise InputError(
                f"%%agent: `--vary {each}` says nothing to try; write `--vary model=A,B temperature=0,0.7`"
            )
        dials.setdefault(name, []).extend(value for value in values.split(",") if value)
    return dials


AGENT = Verb("agent", _arguments(), _call)

"""What a magic is to the rest of the package, and the options that several of them share."""

import argparse
import keyword
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import InputError
from ..arguments import Arguments
from ..cell import CellRun, can_prompt
from ..given import MagicOptions
from ..loaded import Loaded


@dataclass(frozen=True)
class Verb:
    """One magic or verb: its line, and what it does.

    `call` returns a `CellRun` when there is something to watch (the caller waits for it, awaited or not), else the
    value of the cell. `body` is the cell's text, None for a line.
    """

    name: str
    arguments: Arguments
    call: Callable[[Loaded, argparse.Namespace, str | None], object]


_TAKEN = frozenset({"In", "Out", "exit", "get_ipython", "quit"})
"""What a kernel works with; magics stop working once one of them is something else."""


def add_keep_option(arguments: Arguments) -> None:
    """Add `--as`."""
    arguments.add_argument(
        "--as", dest="keep_as", metavar="NAME", type=_name, help="keep the result as this Python variable"
    )


def add_store_option(arguments: Arguments) -> None:
    """Add `--store`."""
    arguments.add_argument("--store", metavar="DIR", help="folder of the run store (default: .steps)")


def add_run_options(arguments: Arguments) -> None:
    """Add what says how a run is set up; `run_options` reads it."""
    _add_values(arguments)
    arguments.add_argument(
        "--files", nargs="+", metavar="PATH", completes="path", help="hand these in as the artifact `files`"
    )
    add_store_option(arguments)
    arguments.add_argument("--memory", action="store_true", help="keep nothing of the run")
    arguments.add_argument(
        "--record", metavar="CASSETTE", completes="path", help="put what models answer into this file"
    )
    arguments.add_argument(
        "--replay", metavar="CASSETTE", completes="path", help="take what models answer from this file; no key needed"
    )
    add_keep_option(arguments)


def add_background_option(arguments: Arguments) -> None:
    """Add `--background`."""
    arguments.add_argument(
        "--background", action="store_true", help="start it and return its handle; the output below shows it"
    )


def finish_call(loaded: Loaded, args: argparse.Namespace, prepare: Callable[[str | None], CellRun]) -> object:
    """Return what a cell is to wait for, or with `--background` the handle of what it started.

    `prepare` takes the name to keep the run as.
    """
    if not args.background:
        return prepare(args.keep_as)
    return loaded.in_background(prepare(None), keep_as=args.keep_as)


def add_again_options(arguments: Arguments, *, keep: bool = True) -> None:
    """Add what a run that goes on, or one of many, may be given; `run_options` reads it."""
    _add_values(arguments)
    add_store_option(arguments)
    if keep:
        add_keep_option(arguments)
    arguments.set_defaults(files=None, memory=False, record=None, replay=None)


def _add_values(arguments: Arguments) -> None:
    arguments.add_argument(
        "--use", nargs="+", default=[], metavar="NAME", completes="variable", help="Python variables for ((NAME))"
    )
    arguments.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="'PART=TEXT'",
        help="answer questions that contain PART with TEXT; without `=`, one answer each, in order (repeatable)",
    )


def run_options(loaded: Loaded, args: argparse.Namespace, *, base: MagicOptions | None = None) -> MagicOptions:
    """Read the options of `add_run_options`; what is not given is as in `base`.

    Raises: InputError for a variable that does not exist, or for answers of both kinds.
    """
    base = base or MagicOptions()
    return MagicOptions(
        vars={**base.vars, **loaded.variables(args.use)},
        answers=_answers(args.answer) if args.answer else base.answers,
        files=args.files or base.files,
        store=args.store or base.store,
        memory=args.memory or base.memory,
        record=args.record or (None if args.replay else base.record),
        replay=args.replay or (None if args.record else base.replay),
        parks=getattr(args, "background", False) and can_prompt(loaded.shell),
    )


def store_of(loaded: Loaded, args: argparse.Namespace) -> str | None:
    """The store to read from: as given, else the loaded pipeline's."""
    return args.store or loaded.options.store


def run_id_of(loaded: Loaded, run_id: str | None) -> str:
    """The run to show: as given, else the notebook's last one; raises InputError when there is none."""
    if run_id is None and loaded.last_run_id is None:
        raise InputError("nothing has run in this notebook yet; name a run, `%steps runs` lists them")
    return run_id or loaded.last_run_id or ""


def _answers(given: list[str]) -> dict[str, str] | list[str]:
    pairs = [text.partition("=") for text in given]
    if all(equals for _, equals, _ in pairs):
        return {part.strip(): answer.strip() for part, _, answer in pairs}
    if any(equals for _, equals, _ in pairs):
        raise InputError("`--answer`: some say `part=text` and some only the text; use one of the two for all")
    return given


def _name(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"`{text}` is not a Python name")
    if text in _TAKEN:
        raise argparse.ArgumentTypeError(f"`{text}` is IPython's own; choose another name")
    return text

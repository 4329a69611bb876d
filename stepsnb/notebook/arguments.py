"""The line of a magic, split like a shell's and parsed; its mistakes are our errors, its help is one screen."""

import argparse
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from IPython.core.magic_arguments import MagicArgumentParser

from ..errors import InputError


class HelpShown(Exception):
    """`--help` was asked for; the text is what to print."""


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise HelpShown(parser.format_help().rstrip())


class Arguments(MagicArgumentParser):
    """Parser of one magic: shell quoting, `--help`, and errors that say what instead.

    `example` is one line or cell that works, shown at the end of the help.
    """

    def __init__(self, prog: str, summary: str, *, example: str) -> None:
        super().__init__(  # type: ignore[no-untyped-call]  # IPython's own signature has no types
            prog=prog,
            description=summary,
            epilog="example:\n  " + example.replace("\n", "\n  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.summary = summary
        self._kinds: dict[str, str] = {}
        self.example = example
        self.allow_abbrev = False
        self.add_argument("--help", "-h", action=_Help, nargs=0, help="show this and stop")

    def add_argument(self, *names: str, completes: str = "", **kwargs: Any) -> argparse.Action:
        """Add an argument as argparse does; `completes` is the kind of names its values are."""
        action: argparse.Action = super().add_argument(*names, **kwargs)
        self._kinds[action.dest] = completes
        return action

    def completes(self, words: Sequence[str]) -> str | None:
        """The kind of value that may come after `words`; None when only an option may."""
        positionals = [a for a in self._actions if not a.option_strings]
        open_option: argparse.Action | None = None
        for word in words:
            if word.startswith("-"):
                open_option = next((a for a in self._actions if word in a.option_strings and a.nargs != 0), None)
            elif open_option is None:
                positionals = positionals[1:]
            elif open_option.nargs is None:
                open_option = None
        action = open_option or (positionals[0] if positionals else None)
        return None if action is None else self._kinds[action.dest]

    @property
    def options(self) -> list[str]:
        """Every long option, sorted."""
        return sorted(o for a in self._actions for o in a.option_strings if o.startswith("--"))

    def error(self, message: str) -> NoReturn:
        """Raise what a person can act on, where argparse would end the process."""
        raise InputError(f"{self.prog}: {message}; see `{self.prog} --help`")

    def parse_line(self, line: str) -> argparse.Namespace:
        """Parse what follows the magic's name.

        Raises: InputError for a line that does not fit; HelpShown for `--help`.
        """
        return self.parse_args(self._split(line))

    def _split(self, line: str) -> Sequence[str]:
        try:
            return shlex.split(line.strip().removesuffix(";"))
        except ValueError as exc:
            raise InputError(f"{self.prog}: {str(exc).lower()} in `{line.strip()}`; close the quote") from exc

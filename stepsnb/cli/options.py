"""Options that several verbs share, and their values as Python values."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Offer `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON value on standard output, nothing else")


def add_store(parser: argparse.ArgumentParser) -> None:
    """Offer `--store`."""
    parser.add_argument("--store", type=Path, metavar="DIR", help="folder of the run store (default: .steps)")


def add_vars(parser: argparse.ArgumentParser) -> None:
    """Offer `--var` and `--vars-file`."""
    parser.add_argument(
        "--var", action="append", default=[], metavar="NAME=VALUE", help="value of ((NAME)); repeatable"
    )
    parser.add_argument("--vars-file", type=Path, metavar="FILE", help="YAML mapping with values of ((names))")


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Offer `--answer`."""
    parser.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="PART=TEXT",
        help="answer questions that contain PART with TEXT; without `=`, one answer each, in order (repeatable)",
    )


def add_no_wait(parser: argparse.ArgumentParser) -> None:
    """Offer `--no-wait`."""
    parser.add_argument("--no-wait", action="store_true", help="a question nobody answers takes its default at once")


def variables(args: argparse.Namespace) -> dict[str, object]:
    """Return the variables of `--vars-file`, overridden by those of `--var`.

    A `--var` is text; where the pipeline means a number it is read as one, as if it stood there.
    Raises: `ConfigError` for a file that cannot be read or is no mapping, `InputError` for an option without `=`.
    """
    values: dict[str, object] = {}
    if args.vars_file is not None:
        from ..config import load_mapping

        values.update(load_mapping(args.vars_file))
    values.update(_pairs("--var", args.var, "NAME=VALUE"))
    return values


def answers(args: argparse.Namespace) -> dict[str, str] | list[str] | None:
    """Return the answers given in advance, None when there are none.

    With `=` they are found by part of the question; without, each answers one question, in order.
    Raises: `InputError` for a mixture of the two.
    """
    given: list[str] = args.answer
    if not given or all("=" in text for text in given):
        return _pairs("--answer", given, "'part of the question=answer'") or None
    if any("=" in text for text in given):
        raise InputError("--answer: some say `part=text` and some only the text; use one of the two for all")
    return given


def _pairs(option: str, given: Sequence[str], shape: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"{option} `{text}`: write it as {shape}")
        if key in pairs:
            raise InputError(f"{option} `{key}` is given twice; keep one")
        pairs[key] = value
    return pairs


def add_cassette(parser: argparse.ArgumentParser) -> None:
    """Add `--record` and `--replay`."""
    parser.add_argument("--record", type=Path, metavar="CASSETTE", help="put what models answer into this file")
    parser.add_argument(
        "--replay", type=Path, metavar="CASSETTE", help="take what models answer from this file; no key is needed"
    )

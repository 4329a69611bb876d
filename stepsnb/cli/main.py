"""Entry point: picks the verb and turns what went wrong into a message and an exit code."""

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import Aborted, StepsError
from ..outcome import EXIT_CODES, Outcome
from . import copy, cost, demo, models, run, runs, test, trajectory, transcript, validate
from .output import print_json, say

_VERBS = (run, validate, test, runs, cost, models, trajectory, transcript, copy, demo)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0, 1 failed, 2 errored or not loadable, 130 stopped."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal without Unicode
    args = _parser().parse_args(argv)
    try:
        code: int = args.verb(args)
        sys.stdout.flush()
    except StepsError as exc:
        return _report(exc, as_json=args.json)
    except KeyboardInterrupt:
        return _report(Aborted("stopped"), as_json=args.json)
    except BrokenPipeError:
        # Whoever read our output has seen enough; the interpreter's own flush at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _report(exc: StepsError, *, as_json: bool) -> int:
    """Say what went wrong, to people and to scripts, and return the exit code."""
    say(str(exc), file=sys.stderr)
    if as_json:
        print_json({"error": str(exc), "code": exc.code})
    return EXIT_CODES[Outcome.ABORTED if isinstance(exc, Aborted) else Outcome.ERRORED]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stepsnb", description="Run LLM agent pipelines.")
    parser.add_argument("--version", action="version", version=f"stepsnb {__version__}")
    parser.set_defaults(json=False)
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    for verb in _VERBS:
        verb.add_verb(verbs)
    return parser

"""Entry point: picks the verb and turns what went wrong into a message and an exit code."""

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import Aborted, InputError, StepsError
from ..outcome import EXIT_CODES, Outcome
from . import (
    answer,
    cap,
    copy,
    cost,
    demo,
    diff,
    freeze,
    mcp,
    models,
    open,
    plan,
    plot,
    preflight,
    questions,
    replay,
    resume,
    run,
    runs,
    schema,
    show,
    sql,
    store,
    test,
    trajectory,
    transcript,
    validate,
    watch,
)
from .output import OutputError, open_closed_streams, print_json, say, silence

_VERBS = (
    *(run, resume, replay, watch, plan, preflight, validate, test, schema),
    *(
        questions,
        answer,
        runs,
        show,
        diff,
        freeze,
        cost,
        plot,
        cap,
        models,
        mcp,
        trajectory,
        transcript,
        sql,
        open,
        copy,
        store,
        demo,
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0, 1 failed, 2 errored or not loadable, 130 stopped."""
    try:
        open_closed_streams()
    except OutputError as exc:
        return _report(exc, as_json=False)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal without Unicode
    args = _parser().parse_args(argv)
    try:
        _check_text(sys.argv[1:] if argv is None else argv)
        code: int = args.verb(args)
        return code
    except OutputError as exc:
        silence(sys.stdout)
        return _report(exc, as_json=False)
    except StepsError as exc:
        return _report(exc, as_json=args.json)
    except KeyboardInterrupt:
        return _report(Aborted("stopped"), as_json=args.json)
    except BrokenPipeError:
        silence(sys.stdout)  # whoever read our output has seen enough
        return 0


def _check_text(arguments: Sequence[str]) -> None:
    """Refuse arguments that no record could hold: Python reads a byte that is not UTF-8 as half of a character."""
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise InputError(f"argument `{argument}` is not UTF-8; write it in UTF-8, and rename a file that is not")


def _report(exc: StepsError, *, as_json: bool) -> int:
    """Say what went wrong, to people and to scripts, and return the exit code."""
    say(str(exc), file=sys.stderr)
    if as_json:
        try:
            print_json({"error": str(exc), "code": exc.code})
        except (OutputError, BrokenPipeError):
            silence(sys.stdout)
    return EXIT_CODES[Outcome.ABORTED if isinstance(exc, Aborted) else Outcome.ERRORED]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stepsnb", description="Run LLM agent pipelines.")
    parser.add_argument("--version", action="version", version=f"stepsnb {__version__}")
    parser.set_defaults(json=False)
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    for verb in _VERBS:
        verb.add_verb(verbs)
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""`stepsnb test FILE…`: run every job of each file in a throw-away store and hold it to its asserts."""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Aborted
from ..outcome import EXIT_CODES, Outcome, worst
from .options import add_answers, add_cassette, add_json, add_vars, variables
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `test`."""
    parser = verbs.add_parser("test", help="run every job of pipelines and check their asserts")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="the pipelines")
    add_vars(parser)
    add_answers(parser)
    add_cassette(parser)
    add_json(parser)
    parser.set_defaults(verb=test, no_wait=True, memory=False)


def test(args: argparse.Namespace) -> int:
    """Exit with 0 only when every job of every file ended well and every assert holds."""
    import stepsnb

    from ..api import check_execution
    from .watching import watch

    given = variables(args)
    pipelines = [(file, stepsnb.load(file, vars=given)) for file in args.files]
    out = sys.stderr if args.json else sys.stdout
    rows: list[dict[str, object]] = []
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="stepsnb-test-") as folder:
        args.store = Path(folder)
        for file, pipeline in pipelines:
            for job in pipeline.jobs:
                watched = watch(partial(pipeline.start, job, record=args.record, replay=args.replay), args)
                if watched.was_stopped:
                    raise Aborted("stopped")
                outcomes.append(watched.outcome)
                rows.append(_row(file, job, watched.outcome, watched.run.error))
            problem = check_execution(pipeline)
            if problem is not None:
                outcomes.append(Outcome.FAILED)
                rows.append(_row(file, None, Outcome.FAILED, problem))
                say(f"{file}: {problem}", file=sys.stderr)
    for row in rows:
        say(f"{'pass' if row['outcome'] == Outcome.SUCCEEDED else 'FAIL'}  {row['file']}  {row['job'] or ''}", file=out)
    if args.json:
        print_json({"passed": worst(outcomes) is Outcome.SUCCEEDED, "jobs": rows})
    return EXIT_CODES[worst(outcomes)]


def _row(file: Path, job: str | None, outcome: Outcome, error: str | None) -> dict[str, object]:
    return {"file": str(file), "job": job, "outcome": outcome, "error": error}

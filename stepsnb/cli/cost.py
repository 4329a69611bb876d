"""`stepsnb cost [RUN]`: what the agents of each run, or of each step of one run, cost."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import add_json, add_store
from .output import print_json, print_table, records, say, share

if TYPE_CHECKING:
    from .options import Verbs

_READ = ("input_tokens", "cached_input_tokens", "cache_write_tokens")


def add_verb(verbs: "Verbs") -> None:
    """Offer `cost`."""
    parser = verbs.add_parser("cost", help="tokens and dollars of runs, or of one run's steps")
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run id: one row for each of its agent steps")
    parser.add_argument(
        "--prices", type=Path, metavar="FILE", help="other prices than those of then: a YAML file with `prices:`"
    )
    add_store(parser)
    add_json(parser)
    parser.set_defaults(verb=cost)


def cost(args: argparse.Namespace) -> int:
    """Print the cost report; a price nobody knows is `unpriced`, never zero."""
    import stepsnb

    rows: list[dict[str, Any]] = records(stepsnb.cost(args.run, prices=args.prices, store=args.store))
    if args.json:
        print_json(rows)
        return 0
    if not rows:
        say("no agent has run yet" if args.run is None else f"run `{args.run}` has no agent step")
        return 0
    turns: list[dict[str, Any]] = records(stepsnb.turns(args.run, store=args.store))
    if args.run is None:
        _print_runs(rows, {turn["run_id"] for turn in turns if turn["finish_reason"] == "length"})
    else:
        _print_steps(rows, records(stepsnb.steps(args.run, store=args.store)), turns)
    return 0


def _print_runs(rows: list[dict[str, Any]], cut: set[str]) -> None:
    cells = []
    for run_id in dict.fromkeys(row["run_id"] for row in rows):
        own = [row for row in rows if row["run_id"] == run_id]
        mark = "<-- truncated" if run_id in cut else ""
        steps = {row["step_id"] for row in own if row["kind"] != "sub_agent"}
        cells.append([run_id, own[0]["job"] or "", *_figures(own), str(len(steps)), mark])
    header = ["RUN", "JOB", "TOKENS", "CACHED", "COST", "STEPS", ""]
    print_table(header, cells, right=("TOKENS", "CACHED", "COST", "STEPS"))


def _print_steps(rows: list[dict[str, Any]], steps: list[dict[str, Any]], turns: list[dict[str, Any]]) -> None:
    durations = {step["step_id"]: step["duration_s"] for step in steps}
    finish = {turn["step_id"]: turn["finish_reason"] or "" for turn in turns}
    truncated = {turn["step_id"] for turn in turns if turn["finish_reason"] == "length"}
    cells = []
    for row in rows:
        step_id = row["step_id"]
        seconds = durations.get(step_id)
        mark = "length  <-- truncated" if step_id in truncated else finish.get(step_id, "")
        duration = "" if seconds is None else f"{seconds:.1f} s"
        name = row["step"] or step_id
        shown = f"· {name}" if row["kind"] == "sub_agent" else name
        cells.append([shown, row["model"] or "", *_figures([row]), duration, mark])
    header = ["STEP", "MODEL", "TOKENS", "CACHED", "COST", "DURATION", "FINISH"]
    print_table(header, cells, right=("TOKENS", "CACHED", "COST", "DURATION"))


def _figures(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return tokens, cached share and dollars over `rows` as text."""
    own = list(rows)
    read = sum(row[column] or 0 for row in own for column in _READ)
    cached = sum(row["cached_input_tokens"] or 0 for row in own)
    written = sum(row["output_tokens"] or 0 for row in own)
    is_priced = not any(row["incomplete"] or row["cost_usd"] is None for row in own)
    dollars = f"${sum(row['cost_usd'] for row in own):.4f}" if is_priced else "unpriced"
    return [f"{read + written:,}", share(cached, read), dollars]

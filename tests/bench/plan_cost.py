"""CPU of planning 1,000 steps against composing their YAML with PyYAML's C loader; the ratio of the medians.

    python plan_cost.py [--rounds 9] [--steps 1000]

Prints one JSON line: `load` reads and checks the file, `plan` makes the nodes and their hashes, `explain` says what
would run; `ratio` is all three together. The bar is 15.
"""
import argparse
import json
import statistics
import time

import yaml

from stepsnb.config import load_text
from stepsnb.plan import History, build_plan, explain

HEAD = """\
agents:
- name: writer
  source: {model: openrouter/some/model}
  system: You write one part of a report.
  tools: [read_file, write_file]
jobs:
- name: job
  plan:
"""
TASK = """\
  - task: make-%(n)d
    run: make part-%(n)d
    inputs: [%(before)s]
    outputs: [a%(n)d]
"""
AGENT = """\
  - agent: writer
    messages: ["Write part %(n)d.", "Check it."]
    inputs: [%(before)s]
    outputs: [a%(n)d]
"""


def pipeline(steps):
    parts = [(AGENT if n % 2 else TASK) % {"n": n, "before": f"a{n - 1}" if n else ""} for n in range(steps)]
    return HEAD + "".join(parts)


def cpu_s(function):
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def round_of(text):
    composed, _ = cpu_s(lambda: yaml.compose(text, Loader=yaml.CSafeLoader))
    loaded, model = cpu_s(lambda: load_text(text))
    planned, plan = cpu_s(lambda: build_plan(model))
    explained, rows = cpu_s(lambda: explain(plan, History()))
    assert len(rows) == len(plan.nodes) == len({row.hash for row in rows})
    return {"compose": composed, "load": loaded, "plan": planned, "explain": explained}


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--steps", type=int, default=1_000)
    a = p.parse_args()
    text = pipeline(a.steps)
    round_of(text)
    taken = [round_of(text) for _ in range(a.rounds)]
    medians = {name: statistics.median(each[name] for each in taken) for name in taken[0]}
    whole = medians["load"] + medians["plan"] + medians["explain"]
    print(json.dumps({
        "steps": a.steps,
        "rounds": a.rounds,
        "cpu_ms": {name: round(1e3 * seconds, 1) for name, seconds in medians.items()},
        "ratio": round(whole / medians["compose"], 1),
        "ratio_plan_alone": round(medians["plan"] / medians["compose"], 1),
    }))

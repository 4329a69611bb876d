"""stepsnb: one agent step of a loaded pipeline a conversation, its events in the store's spool.

variants: store (the default: a run store in a fresh folder) and nostore (`memory=True`: nothing is kept).

What a notebook user does: load a pipeline once, start a run for each conversation, await it. `add` is granted as a
Python tool. `finish` puts the spool on the disk; after the figures are printed a process of its own opens the store
and counts the messages of every conversation.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import KEY, PROMPT, SYSTEM, add, arguments, main

args = arguments(("store", "nostore"))

import stepsnb

PIPELINE = """
agents:
- name: calculator
  source: {model: ((model)), endpoint: ((endpoint)), api_key_env: BENCH_KEY, tool_mode: native, stream: ((stream))}
  system: ((system))
  max_turns: 0
  preflight: false
  tools: [{python: add}]
jobs:
- name: sum
  plan:
  - agent: calculator
    messages: [((prompt))]
"""
os.environ["BENCH_KEY"] = KEY
STORE = tempfile.mkdtemp(prefix="stepsnb-bench-")
pipelines, done = {}, []


def loaded(base_url, model, stream):
    if (model, stream) not in pipelines:
        values = {"model": model, "endpoint": base_url, "system": SYSTEM, "prompt": PROMPT, "stream": stream}
        pipelines[model, stream] = stepsnb.load(PIPELINE, vars=values, functions={"add": add})
    return pipelines[model, stream]


def place():
    return {"store": STORE} if args.variant == "store" else {"memory": True}


async def conversation(base_url, model, turns):
    run = await loaded(base_url, model, False).start(**place())
    if run.outcome != "succeeded":
        raise SystemExit(run.error)
    done.append((run.run_id, 2 + 2 * turns + 1))
    return {"text": run.text, "calls": sum(e.kind == "tool" and e.phase == "end" for e in run.events)}


async def stream(base_url, model, n):
    seen = 0

    def count(event):
        nonlocal seen
        seen += event.kind == "text_delta"

    run = await loaded(base_url, model, True).start(on_event=count, **place())
    if run.outcome != "succeeded":
        raise SystemExit(run.error)
    return seen


def finish():
    if args.variant == "store":
        from stepsnb.store import open_spool

        open_spool(Path(STORE)).sync()


CHECK = """
import json, sys, stepsnb
store, wanted = sys.argv[1], json.loads(sys.stdin.read())
rows = dict(stepsnb.sql('''
    select run_id, count(*) filter (where kind in ('message', 'turn_finished')
                                    or (kind = 'tool' and payload->>'phase' = 'end')) as n
    from events group by run_id''', store=store).itertuples(index=False))
bad = {run: (rows.get(run), n) for run, n in wanted if rows.get(run) != n}
sys.exit(f"{len(bad)} of {len(wanted)} conversations are not whole in the store: {dict(list(bad.items())[:3])}" if bad else 0)
"""


def check_store():
    """Raise unless another process finds every message of every conversation in the store."""
    p = subprocess.run([sys.executable, "-c", CHECK, STORE], input=json.dumps(done), capture_output=True, text=True)
    if p.returncode:
        raise SystemExit(p.stderr[-600:])


if args.variant == "store" and not args.profile:
    exit_at_once, os._exit = os._exit, lambda code: (check_store(), exit_at_once(code))

main(args, conversation, stream, finish=finish)

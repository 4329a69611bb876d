"""Runs whose process is killed with -9: what was acknowledged is in the store, and everything else goes on."""

import json
import random
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import stepsnb
from stepsnb.store import Store, run_events

RUNNER = """
import json, sys
import stepsnb

def acknowledge(event):
    if "delta" not in event.kind:
        sys.stdout.write(json.dumps([event.run_id, event.seq, event.kind]) + "\\n")
        sys.stdout.flush()

pipeline = stepsnb.load(sys.argv[1])
while True:
    pipeline.start(store=sys.argv[2], on_event=acknowledge).result()
"""

PIPELINE = """
agents:
- name: writer
  source: {model: scripted/talk-script.yml}
  tools: [read_file, write_file]
jobs:
- name: talk
  plan:
  - task: prepare
    outputs: [notes]
    run: echo tides > notes/a.txt
  - agent: writer
    inputs: [notes]
    outputs: [report]
    prompt: Go.
"""

LINES = range(1, 11)
SCRIPT = {
    "version": 1,
    "replies": [
        *[{"calls": [{"name": "read_file", "arguments": {"path": "notes/a.txt", "end_line": n}}]} for n in LINES],
        {"text": "word " * 2000, "calls": [{"name": "write_file", "arguments": {"path": "report/r", "content": "x"}}]},
        {"text": "done"},
    ],
}


@pytest.fixture
def pipeline(tmp_path):
    (tmp_path / "talk-script.yml").write_text(json.dumps(SCRIPT))
    path = tmp_path / "talk.yml"
    path.write_text(PIPELINE)
    return path


def killed_after(pipeline, store, seconds):
    """Run until killed; return the events that were acknowledged, as (run_id, seq) -> kind."""
    command = [sys.executable, "-c", RUNNER, str(pipeline), str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline()]
        time.sleep(seconds)
        process.kill()
        lines += process.stdout.read().splitlines()
    acknowledged = {}
    for line in lines:
        with suppress(json.JSONDecodeError):  # the last line may be cut
            run_id, seq, kind = json.loads(line)
            acknowledged[run_id, seq] = kind
    return acknowledged


def test_twenty_kills_at_random_points_lose_no_acknowledged_event(pipeline, tmp_path):
    store, chance, acknowledged = tmp_path / "store", random.Random(20), {}
    for _ in range(20):
        acknowledged |= killed_after(pipeline, store, chance.uniform(0, 0.25))
    stored = {}
    for run_id in {run_id for run_id, _ in acknowledged}:
        events = run_events(Store(store), run_id)
        seqs = [event.seq for event in events]
        assert seqs == sorted(set(seqs))
        stored |= {(run_id, event.seq): event.kind for event in events}
    missing = acknowledged.keys() - stored.keys()
    assert not missing
    assert all(stored[key] == kind for key, kind in acknowledged.items())
    assert len(acknowledged) > 100  # the kills came while runs were under way


def test_store_is_rebuilt_from_the_spools_when_its_file_is_gone(pipeline, tmp_path):
    store = tmp_path / "store"
    run = stepsnb.load(pipeline).run(store=store)
    before = stepsnb.steps(store=store)
    (store / "store.duckdb").unlink()
    after = stepsnb.steps(store=store)
    assert after.equals(before)
    assert stepsnb.transcript(run.run_id, store=store)["role"].value_counts()["tool"] == 11


def test_run_cut_by_a_kill_keeps_the_text_that_had_streamed(pipeline, tmp_path):
    store = tmp_path / "store"
    script = {"version": 1, "replies": [{"text": "word " * 4000, "delay_s": 0.05}]}
    (tmp_path / "talk-script.yml").write_text(json.dumps(script))
    acknowledged = killed_after(pipeline, store, 1.5)
    assert "text_chunk" in acknowledged.values()
    run_id = next(iter(acknowledged))[0]
    texts = stepsnb.transcript(run_id, store=store).set_index("role")["text"]
    assert texts["assistant"].startswith("word word")

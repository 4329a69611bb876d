"""Several processes on one store at once, none of them waiting for another and none losing an event."""

import random
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from stepsnb.store import Store, run_events

WRITER = """
import sys
from pathlib import Path
from stepsnb.events import TurnFinished, encode_event
from stepsnb.store import open_spool

root, run_id, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
spool = open_spool(root)
seq = 0
while seq != count:
    event = TurnFinished(run_id=run_id, seq=seq, at=1.0, turn=seq, text="x" * (seq * 37 % 5_000))
    spool.append(encode_event(event), sync=seq % 50 == 0)
    print(seq, flush=True)
    seq += 1
"""

READER = """
import sys, time
from stepsnb.store import Store

store, ends = Store(sys.argv[1]), time.monotonic() + float(sys.argv[2])
slowest = 0.0
while time.monotonic() < ends:
    began = time.monotonic()
    with store.session() as db:
        doubled = db.execute("SELECT run_id, seq FROM events GROUP BY ALL HAVING count(*) > 1").fetchall()
    assert not doubled, doubled
    slowest = max(slowest, time.monotonic() - began)
print(slowest)
"""


def start(stack: ExitStack, script: str, *args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, args)]
    process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    stack.callback(process.kill)
    return process


def end(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return output


def check_whole(store: Store, acknowledged: Mapping[str, int]) -> None:
    """Every acknowledged event is there once, in order; of each run at most one more was on its way."""
    with store.session() as db:
        rows = db.execute("SELECT run_id, list(seq ORDER BY seq) FROM events GROUP BY run_id").fetchall()
    assert [seqs for _, seqs in rows] == [list(range(len(seqs))) for _, seqs in rows]
    stored = {run_id: len(seqs) for run_id, seqs in rows}
    assert all(count <= stored[run_id] <= count + 1 for run_id, count in acknowledged.items()), (stored, acknowledged)


def test_two_processes_write_while_two_read(root: Path, store: Store) -> None:
    with ExitStack() as stack:
        readers = [start(stack, READER, root, 3.0) for _ in range(2)]
        writers = [start(stack, WRITER, root, run_id, 2_000) for run_id in ("r1", "r2")]
        for writer in writers:
            end(writer)
        slowest = max(float(end(reader)) for reader in readers)

    assert slowest < 5.0
    check_whole(store, {"r1": 2_000, "r2": 2_000})


def test_what_another_running_process_has_recorded_is_readable_at_once(root: Path, store: Store) -> None:
    with ExitStack() as stack:
        writer = start(stack, WRITER, root, "r1", -1)
        assert writer.stdout is not None
        for _ in range(300):
            acknowledged = int(writer.stdout.readline()) + 1
        began = time.monotonic()
        seqs = [event.seq for event in run_events(store, "r1")]
        took_s = time.monotonic() - began
        writer.kill()

    assert len(seqs) >= acknowledged
    assert took_s < 5.0


def test_writers_that_are_killed_at_random_points_lose_no_acknowledged_event(root: Path, store: Store) -> None:
    chance = random.Random(20)
    acknowledged: dict[str, int] = {}
    for number in range(20):
        with ExitStack() as stack:
            writer = start(stack, WRITER, root, f"r{number}", -1)
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.02))
            writer.kill()
            acknowledged[f"r{number}"] = 1 + writer.stdout.read().count("\n")
        if number % 5 == 0:
            with store.session():
                pass

    check_whole(store, acknowledged)


def test_readers_that_are_killed_at_random_points_double_and_lose_nothing(root: Path, store: Store) -> None:
    chance = random.Random(7)
    with ExitStack() as stack:
        writer = start(stack, WRITER, root, "r1", 3_000)
        for _ in range(4):
            reader = start(stack, READER, root, 60.0)
            time.sleep(chance.uniform(0.3, 0.8))
            reader.kill()
            reader.communicate()
        end(writer)

    check_whole(store, {"r1": 3_000})
    with store.session() as db:
        assert db.execute("SELECT count(*), count(DISTINCT seq) FROM turns").fetchone() == (3_000, 3_000)

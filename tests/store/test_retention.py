"""Runs beyond what their job keeps go, whole and with their files; what is needed stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stepsnb.errors import InputError
from stepsnb.events import Artifact, Question, RunFinished, RunResumed, RunStarted, TurnFinished, encode_event
from stepsnb.store import hold_run, open_spool, run_events
from stepsnb.store.removal import REMOVED, record_removal, removed_runs

TABLES = ("events", "run_starts", "run_ends", "turns", "question_events")


class Recording:
    """Records runs of a job that keeps `history` of them, one second apart."""

    def __init__(self, root: Path, history: int | None) -> None:
        self.root, self.history, self.at = root, history, 0.0

    def emit(self, run_id: str, seq: int, event) -> None:
        self.at += 1.0
        event.run_id, event.seq, event.at = run_id, seq, self.at
        open_spool(self.root).append(encode_event(event))

    def start(self, run_id: str, *, job: str = "build", **fields: object) -> None:
        self.emit(run_id, 0, RunStarted(pipeline="p.yml", job=job, run_history=self.history, **fields))
        self.emit(run_id, 1, TurnFinished(text="said"))
        self.emit(run_id, 2, Question(question_id="q", text="Which?"))

    def artifact(self, run_id: str, seq: int, digest: str) -> Path:
        self.emit(run_id, seq, Artifact(name="out", path=f"artifacts/{digest}", digest=digest))
        folder = self.root / "artifacts" / digest
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "file").write_text(digest)
        os.utime(folder, (1.0, 1.0))
        return folder

    def finish(self, run_id: str, outcome: str = "succeeded") -> None:
        self.emit(run_id, 9, RunFinished(outcome=outcome))

    def whole(self, run_id: str, **fields: object) -> None:
        self.start(run_id, **fields)
        self.finish(run_id)


@pytest.fixture
def recording(root):
    return Recording(root, 2)


def kept(store):
    with store.session() as db:
        return [row[0] for row in db.execute("SELECT DISTINCT run_id FROM events ORDER BY run_id").fetchall()]


def rows(store):
    with store.session() as db:
        return {t: db.execute(f"SELECT run_id, count(*) FROM {t} GROUP BY ALL ORDER BY ALL").fetchall() for t in TABLES}


def end_writer(root):
    open_spool(root).close()


def test_latest_finished_runs_of_each_job_are_kept(recording, store):
    for index in range(4):
        recording.whole(f"a{index}")
        recording.whole(f"b{index}", job="ship")

    assert kept(store) == ["a2", "a3", "b2", "b3"]


def test_removed_run_has_no_rows_in_any_table(recording, store):
    for index in range(3):
        recording.whole(f"a{index}")

    assert all([run for run, _ in found] == ["a1", "a2"] for found in rows(store).values())


def test_latest_start_says_how_many_are_kept(recording, store):
    for index in range(3):
        recording.whole(f"a{index}")
    recording.history = None
    recording.whole("a3")

    assert kept(store) == ["a0", "a1", "a2", "a3"]


def test_runs_that_have_not_finished_are_kept_and_not_counted(recording, store):
    recording.start("a0")
    for index in range(1, 4):
        recording.whole(f"a{index}")

    assert kept(store) == ["a0", "a2", "a3"]


def test_run_that_goes_on_is_kept(recording, store):
    recording.whole("a0")
    recording.emit("a0", 10, RunResumed(pipeline="p.yml", job="build", run_history=2))
    for index in range(1, 4):
        recording.whole(f"a{index}")

    assert kept(store) == ["a0", "a2", "a3"]


def test_run_that_a_kept_one_takes_steps_from_is_kept_with_those_before_it(recording, store):
    recording.whole("a0")
    recording.whole("a1", forked_from="a0", forked_at="first")
    recording.whole("a2", forked_from="a1", forked_at="second")
    recording.whole("a3")

    assert kept(store) == ["a0", "a1", "a2", "a3"]

    recording.whole("a4")
    assert kept(store) == ["a3", "a4"]


def test_held_run_is_kept_until_it_is_let_go(recording, store, root):
    recording.whole("a0")
    with hold_run(root, "a0"):
        for index in range(1, 4):
            recording.whole(f"a{index}")
        assert kept(store) == ["a0", "a2", "a3"]

    assert kept(store) == ["a2", "a3"]
    assert list((root / "held").iterdir()) == []


def test_removed_run_is_unknown(recording, store):
    for index in range(3):
        recording.whole(f"a{index}")
    kept(store)

    with pytest.raises(InputError, match="a0"):
        run_events(store, "a0")


def test_artifacts_go_unless_a_kept_run_names_them(recording, store):
    recording.start("a0")
    own, shared = recording.artifact("a0", 3, "own"), recording.artifact("a0", 4, "shared")
    recording.finish("a0")
    recording.start("a1")
    recording.artifact("a1", 3, "shared")
    recording.finish("a1")
    recording.whole("a2")
    end_writer(recording.root)
    kept(store)

    assert not own.exists()
    assert (shared / "file").read_text() == "shared"
    assert list(recording.root.glob("artifacts/.*")) == []


def test_artifact_that_was_just_taken_stays_until_a_later_time(recording, store):
    recording.start("a0")
    folder = recording.artifact("a0", 3, "own")
    recording.finish("a0")
    os.utime(folder)
    recording.whole("a1")
    recording.whole("a2")
    end_writer(recording.root)
    kept(store)
    assert folder.exists()

    os.utime(folder, (1.0, 1.0))
    kept(store)
    assert not folder.exists()


def test_artifact_that_a_run_under_way_may_have_taken_stays(recording, store):
    recording.start("a0")
    folder = recording.artifact("a0", 3, "own")
    recording.finish("a0")
    recording.whole("a1")
    recording.whole("a2")
    recording.at = time.time() - 7200
    recording.start("a3")
    os.utime(folder, (time.time() - 3600,) * 2)
    kept(store)

    assert folder.exists()


def test_spools_go_when_no_run_in_them_is_kept(recording, store, root):
    recording.whole("a0")
    end_writer(root)
    recording.whole("a1")
    end_writer(root)
    recording.whole("a2")
    recording.whole("a3")
    end_writer(root)
    kept(store)

    assert len(list((root / "spool").iterdir())) == 1


def test_spool_that_grows_goes_once_its_writer_is_gone(recording, store, root):
    recording.whole("a0")
    recording.emit("", -1, TurnFinished())
    recording.history = 1
    recording.whole("a1")
    kept(store)
    end_writer(root)

    assert kept(store) == ["", "a1"]
    assert len(list((root / "spool").iterdir())) == 1


def test_rebuild_brings_back_no_part_of_a_removed_run(recording, store, root):
    recording.start("a0")
    end_writer(root)
    recording.finish("a0")
    recording.whole("a1")
    recording.whole("a2")
    before = rows(store)
    assert kept(store) == ["a1", "a2"]

    store.rebuild()

    assert rows(store) == before


def test_everything_is_read_once_after_a_removal(recording, store):
    for index in range(3):
        recording.whole(f"a{index}")
    kept(store)
    recording.whole("a3")
    recording.emit("a0", 11, TurnFinished(text="late"))

    assert kept(store) == ["a2", "a3"]
    assert {count for found in rows(store).values() for _, count in found} == {1, 4}


def test_record_of_a_removal_that_was_cut_off_removes_nothing_and_spoils_nothing(recording, store, root):
    recording.whole("a0")
    recording.whole("a1")
    record_removal(root, ["a0"])
    with (root / REMOVED).open("r+b") as file:
        file.truncate((root / REMOVED).stat().st_size - 3)
    assert kept(store) == ["a0", "a1"]

    record_removal(root, ["a1"])

    assert removed_runs(root) == ["a1"]
    assert kept(store) == ["a0"]


KILLED = """
import os, signal, sys
from pathlib import Path
import stepsnb.store.{module} as module
from stepsnb.store import Store

whole = module.{name}

def cut_off(*args, **kwargs):
    if {after}:
        whole(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)

module.{name} = cut_off
with Store(Path(sys.argv[1])).session():
    pass
"""


@pytest.mark.parametrize(
    ("module", "name", "after"),
    [
        ("retention", "record_removal", False),
        ("retention", "record_removal", True),
        ("retention", "take_out_removed", True),
        ("clearing", "_clear_segments", True),
        ("clearing", "_remove", False),
        ("clearing", "_clear_results", True),
    ],
)
def test_removal_that_was_killed_is_finished_by_the_next_session(recording, store, root, module, name, after):
    recording.start("a0")
    folder = recording.artifact("a0", 3, "own")
    recording.finish("a0")
    end_writer(root)
    recording.whole("a1")
    recording.whole("a2")
    end_writer(root)
    script = KILLED.format(module=module, name=name, after=after)

    killed = subprocess.run([sys.executable, "-c", script, str(root)], check=False)

    assert killed.returncode == -signal.SIGKILL
    assert kept(store) == ["a1", "a2"]
    assert not folder.exists()
    assert list(root.glob("artifacts/.*")) == []
    assert len(list((root / "spool").iterdir())) == 1


READER = """
import sys, time
from stepsnb.store import Store

store, ends = Store(sys.argv[1]), time.monotonic() + 3
while time.monotonic() < ends:
    with store.session() as db:
        parts = db.execute('''
            SELECT run_id, count(*) FROM events WHERE run_id IN (SELECT run_id FROM run_ends) GROUP BY ALL
            HAVING count(*) <> 4
        ''').fetchall()
        loose = db.execute("FROM turns ANTI JOIN run_starts USING (run_id)").fetchall()
    assert not parts and not loose, (parts, loose)
"""


def test_reader_in_another_process_never_sees_part_of_a_run(recording, store, root):
    with subprocess.Popen([sys.executable, "-c", READER, str(root)], stderr=subprocess.PIPE, text=True) as reader:
        index = 0
        while reader.poll() is None:
            recording.whole(f"a{index:05}")
            index += 1
            if index % 20 == 0:
                kept(store)
        assert reader.returncode == 0, reader.stderr.read()
    assert len(kept(store)) == 2

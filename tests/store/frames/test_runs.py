import subprocess
import sys
from pathlib import Path

import pandas as pd

from stepsnb.events import RunFinished, RunStarted
from stepsnb.store import Store, open_spool, runs_df
from tests.support.recorded import BEGAN, conversation, record


def test_runs_come_newest_first(root: Path, store: Store) -> None:
    record(root, "old", conversation())
    record(root, "new", conversation(), began=BEGAN + 1_000)

    assert runs_df(store)["run_id"].tolist() == ["new", "old"]


def test_a_finished_run_has_all_its_columns(root: Path, store: Store) -> None:
    events = [
        RunStarted(pipeline="tides.yml", job="hello", forked_from="r0", tags={"who": "me"}),
        RunFinished(outcome="failed", error="step `write`: no", duration_s=1.5),
    ]
    record(root, "r1", events)

    assert runs_df(store).iloc[0].to_dict() == {
        "run_id": "r1",
        "pipeline": "tides.yml",
        "job": "hello",
        "outcome": "failed",
        "state": "finished",
        "started_at": pd.Timestamp(BEGAN, unit="s", tz="UTC"),
        "finished_at": pd.Timestamp(BEGAN + 1, unit="s", tz="UTC"),
        "duration_s": 1.5,
        "error": "step `write`: no",
        "forked_from": "r0",
        "tags": '{"who":"me"}',
    }


def test_a_run_of_a_live_process_is_running_and_of_a_dead_one_interrupted(root: Path, store: Store) -> None:
    record(root, "r1", conversation(outcome=None))
    assert runs_df(store)["state"].tolist() == ["running"]

    open_spool(root).close()

    assert runs_df(store)["state"].tolist() == ["interrupted"]
    assert runs_df(store)["outcome"].isna().tolist() == [True]


def test_the_run_of_a_process_that_was_killed_is_interrupted(root: Path, store: Store) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from tests.support.recorded import conversation, record
record(Path(sys.argv[1]), "r1", conversation(outcome=None))
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script, root], cwd=Path(__file__).parents[3])

    assert runs_df(store)["state"].tolist() == ["interrupted"]


def test_a_run_that_is_gone_on_with_has_no_outcome_until_its_next_end(root: Path, store: Store) -> None:
    first = record(root, "r1", conversation(outcome="aborted"))
    record(root, "r1", [RunStarted(pipeline="tides.yml", job="hello")], first_seq=len(first))

    (row,) = runs_df(store).to_dict("records")
    assert (row["state"], pd.isna(row["outcome"])) == ("running", True)
    assert row["started_at"] == pd.Timestamp(BEGAN, unit="s", tz="UTC")

    record(root, "r1", [RunFinished(outcome="succeeded")], first_seq=len(first) + 1)
    assert runs_df(store)["outcome"].tolist() == ["succeeded"]


def test_a_run_whose_start_was_lost_is_still_shown(root: Path, store: Store) -> None:
    record(root, "r1", [RunFinished(outcome="succeeded")])

    assert runs_df(store)[["run_id", "outcome"]].values.tolist() == [["r1", "succeeded"]]

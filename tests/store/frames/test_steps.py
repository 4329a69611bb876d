from pathlib import Path

import pandas as pd

from stepsnb.events import StepFinished, StepSkipped, StepStarted
from stepsnb.store import Store, steps_df
from tests.support.recorded import BEGAN, conversation, delegation, record


def test_steps_come_oldest_first_and_of_one_run_when_asked(root: Path, store: Store) -> None:
    record(root, "r2", conversation(), began=BEGAN + 1_000)
    record(root, "r1", conversation())

    assert steps_df(store)["run_id"].tolist() == ["r1", "r2"]
    assert steps_df(store, "r2")["run_id"].tolist() == ["r2"]


def test_an_agent_step_tells_who_did_it_and_how_it_ended(root: Path, store: Store) -> None:
    record(root, "r1", conversation())

    row = steps_df(store).iloc[0]
    assert row[["kind", "name", "agent", "model", "outcome", "response"]].tolist() == [
        "agent",
        "write",
        "writer",
        "m/large",
        "succeeded",
        "High tide.",
    ]
    assert (row["duration_s"], row["attempt"], row["wrapped_up"]) == (4.0, 1, False)
    assert row["started_at"] == pd.Timestamp(BEGAN + 1, unit="s", tz="UTC")
    assert pd.isna(row["verdict"])


def test_steps_that_did_not_execute_say_why(root: Path, store: Store) -> None:
    skipped = StepSkipped(step_id="s1", name="lint", step_kind="task", reason="guard said no")
    reused = StepSkipped(step_id="s2", name="build", step_kind="task", reused=True)
    record(root, "r1", [skipped, reused])

    assert steps_df(store)[["name", "kind", "outcome", "reason"]].fillna("-").values.tolist() == [
        ["lint", "task", "skipped", "guard said no"],
        ["build", "task", "reused", "-"],
    ]


def test_a_step_that_is_recorded_again_shows_its_latest_attempt(root: Path, store: Store) -> None:
    step = {"step_id": "s1", "name": "lint", "step_kind": "task"}
    events = [
        StepStarted(**step),
        StepFinished(**step, outcome="failed", note="first"),
        StepStarted(**step, attempt=2),
    ]
    record(root, "r1", events)

    (row,) = steps_df(store).to_dict("records")
    assert (row["attempt"], pd.isna(row["outcome"]), pd.isna(row["note"])) == (2, True, True)

    record(root, "r1", [StepFinished(**step, outcome="succeeded")], first_seq=3)
    assert steps_df(store)[["attempt", "outcome"]].values.tolist() == [[2, "succeeded"]]


def test_a_sub_agents_conversation_is_a_row_below_the_step_that_called_it(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    columns = ["step_id", "parent_id", "call_id", "kind", "agent", "outcome"]
    assert steps_df(store)[columns].fillna("-").values.tolist() == [
        ["s1", "-", "-", "agent", "writer", "succeeded"],
        ["s1.1", "s1", "c1", "sub_agent", "summarizer", "succeeded"],
    ]


def test_an_agents_typed_output_is_kept_as_json(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    assert steps_df(store)["output"].fillna("-").tolist() == ['{"tide": "high"}', "-"]

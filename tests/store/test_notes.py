"""The views of `sql()` over what happened beside the messages."""

from pathlib import Path

import pytest

from stepsnb.events import Compaction, LoopWarning, Nudge
from stepsnb.store import Store, open_spool, sql_df
from tests.support.recorded import delegation, record

VIEWS = ("retries", "compactions", "loop_warnings", "context_truncations", "nudges", "model_runs", "models")


def values(store: Store, query: str) -> list[list[object]]:
    frame = sql_df(store, query)
    rows: list[list[object]] = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return rows


def test_what_happened_on_the_way_can_be_queried(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    assert values(store, "SELECT effect, retry_kind, attempt, max_attempts, reason, wait_s FROM retries") == [
        ["llm", "replay", 2, 3, "too many requests", 2.0]
    ]
    assert values(store, "SELECT step_id, tool, count FROM loop_warnings") == [["s1.1", "read_file", 6]]
    assert values(store, "SELECT turn, sent, reported FROM context_truncations") == [[2, 9_000, 4_000]]
    assert values(store, "SELECT about, owed, text FROM nudges") == [
        ["owed", ["the file `a.md`"], "You still owe a.md."]
    ]


def test_a_compaction_is_one_row_from_start_to_end(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    assert values(store, "SELECT before, after, kept, summary, error, finished_at > started_at FROM compactions") == [
        [100_000, 9_000, 2, "Tides so far.", None, True]
    ]


def test_a_compaction_that_was_cut_off_or_failed_is_a_row_too(root: Path, store: Store) -> None:
    step = {"step_id": "s1", "before": 9}
    failed = Compaction(**step, phase="end", error="no model")
    record(root, "r1", [Compaction(**step), failed, Compaction(**step), Compaction(step_id="s2", before=7)])

    assert values(store, "SELECT before, error, finished_at IS NULL FROM compactions ORDER BY seq") == [
        [9, "no model", False],
        [9, None, True],
        [7, None, True],
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_a_field_of_an_unexpected_type_stops_no_view(root: Path, store: Store, view: str) -> None:
    record(root, "r1", [LoopWarning(step_id="s1"), Nudge(step_id="s1", about="deadline", text="hurry")])
    for kind in ("retry", "compaction", "loop_warning", "context_truncated", "nudge", "turn_finished"):
        odd = (
            f'{{"kind":"{kind}","run_id":"r2","turn":[],"wait_s":"long","owed":7,"before":"x","marks":3,"count":{{}}}}'
        )
        open_spool(root).append(odd.encode())

    assert len(sql_df(store, f"FROM {view}")) >= 1 or view == "models"

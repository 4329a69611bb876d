from pathlib import Path

import pandas as pd
import pytest

from stepsnb.errors import InputError
from stepsnb.events import (
    ContextTruncated,
    Event,
    LoopWarning,
    Request,
    Retry,
    StepStarted,
    StoredCall,
    Tool,
    TurnFinished,
)
from stepsnb.messages import Mark
from stepsnb.store import Store, models_df
from stepsnb.store.frames.models import COLUMNS
from tests.support.recorded import BEGAN, conversation, delegation, record


def counts(store: Store, model: str, run_id: str | None = None) -> dict[str, object]:
    """The counts of a model that are not 0."""
    row = models_df(store, run_id).set_index("model").loc[model].to_dict()
    return {name: count for name, count in row.items() if count and not name.endswith("_rate")}


def reply(*, turn: int = 1, **fields: object) -> TurnFinished:
    return TurnFinished(**{"step_id": "s1", "turn": turn, "model": "m", **fields})


def test_a_row_is_a_model_over_all_runs_or_one(root: Path, store: Store) -> None:
    record(root, "r1", conversation(turns=1))
    record(root, "r2", conversation(turns=2), began=BEGAN + 1_000)

    assert counts(store, "m/large") == {"requests": 5, "replies": 5, "tool_calls": 3}
    assert counts(store, "m/large", "r1") == {"requests": 2, "replies": 2, "tool_calls": 1}


def test_what_failed_was_mended_or_tried_again_is_counted_by_model(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    assert counts(store, "m/large") == {
        "requests": 2,
        "failed_requests": 1,
        "retries": 1,
        "replies": 2,
        "tool_calls": 2,
        "marked": 2,
        "repaired": 1,
        "no_usage": 1,
        "context_truncated": 1,
    }
    assert counts(store, "m/small") == {
        "requests": 1,
        "replies": 2,
        "tool_calls": 1,
        "failed_tool_calls": 1,
        "marked": 2,
        "looped": 1,
        "truncated": 1,
    }


@pytest.mark.parametrize("mark", list(Mark))
def test_every_mark_a_reply_can_have_has_a_column(root: Path, store: Store, mark: Mark) -> None:
    record(root, "r1", [reply(marks=[mark]), reply(turn=2)])

    assert mark in COLUMNS
    assert counts(store, "m") == {"replies": 2, "marked": 1, mark: 1}


@pytest.mark.parametrize(
    ("events", "column"),
    [
        ([reply(marks=["truncated"], finish_reason="length")], "truncated"),
        ([reply(marks=["repaired"]), Tool(step_id="s1", turn=1, phase="end", call_id="c", repaired=True)], "repaired"),
        ([reply(marks=["looped"]), LoopWarning(step_id="s1", turn=1)], "looped"),
        ([reply(marks=["context_truncated"]), ContextTruncated(step_id="s1", turn=1)], "context_truncated"),
    ],
)
def test_a_reply_counts_once_whoever_says_what_was_wrong_with_it(
    root: Path, store: Store, events: list[Event], column: str
) -> None:
    record(root, "r1", events)

    assert models_df(store)[column].tolist() == [1]


def test_a_run_of_an_older_stepsnb_has_the_marks_that_can_be_told_from_it(root: Path, store: Store) -> None:
    call = {"step_id": "s1", "turn": 1, "phase": "end", "tool": "t"}
    promoted = Tool(**call, call_id="c2", promoted=True)
    record(root, "r1", [reply(finish_reason="length"), Tool(**call, call_id="c1", repaired=True), promoted])

    assert counts(store, "m") == {
        "replies": 1,
        "tool_calls": 2,
        "marked": 1,
        "repaired": 1,
        "promoted": 1,
        "truncated": 1,
    }


def test_warnings_that_name_no_turn_are_counted_each(root: Path, store: Store) -> None:
    started = StepStarted(step_id="s1", name="w", step_kind="agent", agent="w", model="m")
    record(root, "r1", [started, LoopWarning(step_id="s1", tool="a"), LoopWarning(step_id="s1", tool="b")])

    assert counts(store, "m") == {"looped": 2, "marked": 2}


def test_calls_that_no_model_made_are_not_counted(root: Path, store: Store) -> None:
    given = [StoredCall(id="o1", name="read_file", arguments="{}")]
    end = Tool(step_id="s1", turn=0, phase="end", call_id="o1", tool="read_file")
    record(root, "r1", [TurnFinished(step_id="s1", turn=0, synthetic=True, tool_calls=given), end, reply()])

    assert counts(store, "m") == {"replies": 1}


def test_retries_of_tools_are_not_the_models(root: Path, store: Store) -> None:
    record(root, "r1", [reply(), Retry(step_id="s1", turn=1, effect="tool"), Retry(step_id="s1", turn=1)])

    assert counts(store, "m") == {"replies": 1, "retries": 1}


def test_rates_are_shares_and_missing_where_there_was_nothing(root: Path, store: Store) -> None:
    record(root, "r1", [Request(step_id="s1", turn=1, model="m", error="refused"), Request(step_id="s1", model="m")])

    (row,) = models_df(store).to_dict("records")

    assert row["failed_request_rate"] == 0.5
    assert pd.isna(row["failed_tool_call_rate"])
    assert pd.isna(row["marked_rate"])


def test_an_unknown_run_is_an_error(store: Store) -> None:
    with pytest.raises(InputError, match="unknown run `r9`"):
        models_df(store, "r9")

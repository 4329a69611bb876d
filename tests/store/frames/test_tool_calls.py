from pathlib import Path

import pandas as pd

from stepsnb.events import Tool
from stepsnb.store import Store, tool_calls_df
from tests.support.recorded import conversation, record

CALL = {"step_id": "s1", "turn": 1, "call_id": "c1", "tool": "add", "args": '{"a": 1}'}


def test_a_row_is_a_call_with_what_the_model_saw(root: Path, store: Store) -> None:
    record(root, "r1", conversation(turns=1))

    row = tool_calls_df(store).iloc[0]

    assert row[["tool", "args", "result", "ok", "duration_s"]].tolist() == ["add", '{"a": 1}', "2", True, 0.5]
    assert len(tool_calls_df(store)) == 1


def test_how_a_call_was_mended_cut_or_denied_is_told(root: Path, store: Store) -> None:
    end = Tool(**CALL, phase="end", ok=False, repaired=True, truncated=True, spilled_to="out.txt", denied_by="grant")
    record(root, "r1", [Tool(**CALL, phase="start"), end])

    columns = ["ok", "repaired", "promoted", "truncated", "spilled_to", "denied_by"]
    assert tool_calls_df(store)[columns].values.tolist() == [[False, True, False, True, "out.txt", "grant"]]


def test_a_call_that_has_not_ended_is_a_row_without_a_result(root: Path, store: Store) -> None:
    record(root, "r1", [Tool(**CALL, phase="start")])

    (row,) = tool_calls_df(store).to_dict("records")
    assert (row["tool"], row["args"]) == ("add", '{"a": 1}')
    assert [pd.isna(row[column]) for column in ("result", "ok", "truncated", "duration_s")] == [True] * 4

    record(root, "r1", [Tool(**CALL, phase="end", result="2")], first_seq=1)
    assert tool_calls_df(store)["result"].tolist() == ["2"]


def test_call_ids_that_repeat_from_turn_to_turn_are_told_apart(root: Path, store: Store) -> None:
    again = {**CALL, "turn": 2}
    record(root, "r1", [Tool(**CALL, phase="start"), Tool(**CALL, phase="end"), Tool(**again, phase="start")])

    assert tool_calls_df(store)["turn"].tolist() == [1, 2]

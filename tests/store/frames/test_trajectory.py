import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.errors import InputError
from stepsnb.events import StoredCall, Tool, TurnFinished
from stepsnb.settings import TRAJECTORY_ARGUMENT_BYTES
from stepsnb.store import Store, trajectory_df
from stepsnb.store.frames.trajectory import COLUMNS, cut_arguments
from tests.support.recorded import conversation, delegation, record


def test_a_row_is_a_call_and_a_sub_agents_follow_the_call_it_answers(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    frame = trajectory_df(store, "r1")

    columns = ["depth", "step", "agent", "turn", "tool", "ok", "repaired", "code"]
    assert frame[columns].fillna("-").values.tolist() == [
        [0, "write", "writer", 1, "summarizer", True, True, "-"],
        [1, "summarizer", "summarizer", 1, "read_file", False, False, "provider_error"],
        [0, "write", "writer", 1, "read_file", True, False, "-"],
    ]
    assert frame["parent_id"].fillna("-").tolist() == ["-", "s1", "-"]
    assert frame["parent_call_id"].fillna("-").tolist() == ["-", "c1", "-"]


def test_calls_of_one_reply_stand_as_they_were_made_whichever_ended_first(root: Path, store: Store) -> None:
    calls = [StoredCall(id=name, name=name, arguments="{}") for name in "abc"]
    ends = [Tool(step_id="s1", turn=1, phase="end", call_id=name, tool=name) for name in "cab"]
    record(root, "r1", [TurnFinished(step_id="s1", turn=1, tool_calls=calls), *ends])

    assert trajectory_df(store, "r1")["tool"].tolist() == ["a", "b", "c"]


def test_a_call_that_has_not_ended_has_no_ok(root: Path, store: Store) -> None:
    record(root, "r1", delegation(child_ends=False))

    first = trajectory_df(store, "r1").iloc[0]

    assert (first["tool"], pd.isna(first["ok"])) == ("summarizer", True)


def test_what_was_said_and_read_beforehand_is_not_in_it(root: Path, store: Store) -> None:
    record(root, "r1", delegation())

    assert "opening_1" not in trajectory_df(store, "r1")["call_id"].tolist()


def test_a_run_without_calls_has_the_documented_columns(root: Path, store: Store) -> None:
    record(root, "r1", conversation(turns=0))

    frame = trajectory_df(store, "r1")

    assert (len(frame), list(frame.columns)) == (0, list(COLUMNS))
    assert [str(frame[name].dtype) for name in ("depth", "ok", "repaired", "duration_s")] == [
        "int64",
        "boolean",
        "bool",
        "float64",
    ]


def test_an_unknown_run_is_an_error(store: Store) -> None:
    with pytest.raises(InputError, match="unknown run `r9`"):
        trajectory_df(store, "r9")


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"text": "x" * 3_000, "path": "a.md"}, {"text": "x" * 2_048, "path": "a.md"}),
        ({"text": "日" * 1_000}, {"text": "日" * 682}),
        ({"rows": ["x" * 3_000]}, {"rows": '["' + "x" * 2_046}),
        ({"a": "x" * 2_048, "b": "y" * 2_048}, {"a": "x" * 2_048, "b": "y" * 2_048}),
    ],
)
def test_each_argument_is_cut_on_its_own(arguments: dict[str, object], kept: dict[str, object]) -> None:
    assert json.loads(cut_arguments(json.dumps(arguments))) == kept


@pytest.mark.parametrize("arguments", ["", "{}", '{"a":  1}', "not json", '{"text": "' + "x" * 2_048 + '"}'])
def test_arguments_that_fit_stay_as_the_model_wrote_them(arguments: str) -> None:
    assert cut_arguments(arguments) == arguments


def test_what_is_no_object_is_cut_whole() -> None:
    assert cut_arguments("x" * 9_000) == "x" * TRAJECTORY_ARGUMENT_BYTES


@given(st.dictionaries(st.text(max_size=3), st.text(max_size=9_000) | st.lists(st.text(max_size=3_000))))
def test_no_argument_is_longer_than_its_bound(arguments: dict[str, object]) -> None:
    for value in json.loads(cut_arguments(json.dumps(arguments))).values():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        assert len(text.encode("utf-8", "surrogatepass")) <= TRAJECTORY_ARGUMENT_BYTES

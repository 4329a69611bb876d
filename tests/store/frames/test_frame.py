import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from stepsnb.errors import InputError
from stepsnb.events import Request, RunFinished, StepFinished, Tool, TurnFinished
from stepsnb.store import (
    Store,
    cost_df,
    models_df,
    open_spool,
    questions_df,
    requests_df,
    runs_df,
    sql_df,
    steps_df,
    tool_calls_df,
    turns_df,
)
from stepsnb.store.frames import (
    cost,
    models,
    questions,
    requests,
    runs,
    steps,
    tool_calls,
    trajectory,
    transcript,
    turns,
)
from stepsnb.store.frames.frame import Dtype, escape_controls
from tests.support.recorded import conversation, question, record

Columns = dict[str, Dtype]
TEXT = pd.Series([""]).dtype

TABLES: list[tuple[str, Columns, Callable[[Store], pd.DataFrame]]] = [
    ("runs", runs.COLUMNS, runs_df),
    ("steps", steps.COLUMNS, steps_df),
    ("turns", turns.COLUMNS, turns_df),
    ("requests", requests.COLUMNS, requests_df),
    ("tool_calls", tool_calls.COLUMNS, tool_calls_df),
    ("cost", cost.COLUMNS, cost_df),
    ("models", models.COLUMNS, models_df),
    ("questions", questions.COLUMNS, questions_df),
]


def dtypes(columns: Columns) -> dict[str, object]:
    return {
        name: TEXT if dtype is Dtype.TEXT else pd.api.types.pandas_dtype(dtype.value) for name, dtype in columns.items()
    }


@pytest.mark.parametrize(("table", "columns", "read"), TABLES, ids=[table for table, *_ in TABLES])
def test_an_empty_store_gives_the_documented_columns_and_dtypes(
    store: Store, table: str, columns: Columns, read: Callable[[Store], pd.DataFrame]
) -> None:
    frame = read(store)

    assert len(frame) == 0
    assert dict(frame.dtypes) == dtypes(columns)
    assert set(columns) <= set(re.findall(r"\w+", read.__doc__ or "")), "each is documented"


@pytest.mark.parametrize(("table", "columns", "read"), TABLES, ids=[table for table, *_ in TABLES])
def test_dtypes_are_the_same_whatever_is_missing(
    root: Path, store: Store, table: str, columns: Columns, read: Callable[[Store], pd.DataFrame]
) -> None:
    record(root, "r1", [*conversation(outcome=None), question("asked")])

    frame = read(store)

    assert len(frame) > 0
    assert dict(frame.dtypes) == dtypes(columns)


@pytest.mark.parametrize(("table", "columns", "read"), TABLES, ids=[table for table, *_ in TABLES])
def test_flags_and_counts_have_a_value_even_where_only_half_of_a_story_was_recorded(
    root: Path, store: Store, table: str, columns: Columns, read: Callable[[Store], pd.DataFrame]
) -> None:
    step = {"step_id": "s1"}
    halves = [RunFinished(), StepFinished(**step), Request(**step, error="refused"), TurnFinished(**step)]
    record(root, "r1", [*halves, Tool(**step, phase="end"), Tool(**step, call_id="c2"), question("expired")])
    open_spool(root).append(b'{"kind":"request","run_id":"r2","status":"x","turn":"y","input_tokens":null}')
    open_spool(root).append(b'{"kind":"tool","run_id":"r2","phase":"end","repaired":"x","promoted":null}')
    open_spool(root).append(b'{"kind":"question","run_id":"r2","options_required":[]}')

    frame = read(store)

    assert len(frame) > 0
    assert dict(frame.dtypes) == dtypes(columns)


def test_sql_sees_every_table_with_at_least_the_columns_of_its_frame(store: Store) -> None:
    of_one_run = [("trajectory", trajectory.COLUMNS, None), ("transcript", transcript.COLUMNS, None)]
    for table, columns, _ in [*TABLES, *of_one_run]:
        assert set(columns) <= set(sql_df(store, f"FROM {table}").columns), table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\x00\x7f\x9b", r"\x00\x7f\x9b"),
        ("a\rb\r\nc", "a\\x0db\r\nc"),
        ("tab\tline\nünï", "tab\tline\nünï"),
    ],
)
def test_control_characters_are_made_visible(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_no_cell_holds_a_raw_control_character(root: Path, store: Store) -> None:
    record(root, "r1", [*conversation(), question("asked", text="\x1b[2J", options=["\x07"])])

    (row,) = questions_df(store).to_dict("records")
    assert (row["question"], row["options"]) == (r"\x1b[2J", [r"\x07"])
    (nested,) = sql_df(store, "SELECT text AS a, [text] AS b, {'k': text} AS c FROM question_events").to_dict("records")
    assert nested == {"a": r"\x1b[2J", "b": [r"\x1b[2J"], "c": {"k": r"\x1b[2J"}}


@pytest.mark.parametrize(
    ("got", "message"),
    [
        ("K7Q", "unknown run `K7Q` (did you mean `K7QP2X`?)"),
        ("K7QP2Y", "unknown run `K7QP2Y` (did you mean `K7QP2X`?)"),
        ("\ud800", "unknown run `\ufffd`; newest: K7QP2X, A1B2C3"),
        ("zzz", "unknown run `zzz`; newest: K7QP2X, A1B2C3"),
        ("", "unknown run ``; newest: K7QP2X, A1B2C3"),
    ],
)
def test_an_unknown_run_is_told_with_what_was_probably_meant(root: Path, store: Store, got: str, message: str) -> None:
    record(root, "A1B2C3", conversation())
    record(root, "K7QP2X", conversation(), began=1_770_000_000.0)

    with pytest.raises(InputError) as told:
        turns_df(store, got)

    assert str(told.value) == message


def test_every_table_of_one_run_refuses_an_unknown_run(store: Store) -> None:
    for read in (steps_df, turns_df, requests_df, tool_calls_df, cost_df, questions_df):
        with pytest.raises(InputError, match=r"^unknown run `r1`; newest: none$"):
            read(store, "r1")

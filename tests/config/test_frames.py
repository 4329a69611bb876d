"""DataFrames as bounded Markdown tables."""

import pandas as pd

from stepsnb.config.frames import is_frame, to_markdown
from stepsnb.settings import FRAME_CELL_CHARACTERS, FRAME_COLUMNS, FRAME_ROWS


def test_table_says_how_many_rows_and_columns_it_leaves_out():
    frame = pd.DataFrame([range(FRAME_COLUMNS + 1)] * (FRAME_ROWS + 1_000))

    lines = to_markdown(frame).splitlines()

    assert len(lines) == 2 + FRAME_ROWS + 2
    assert lines[0].count("|") == FRAME_COLUMNS + 1
    assert lines[-1] == "… and 1,000 more rows and 1 more columns"


def test_cell_cannot_break_the_table():
    assert to_markdown(pd.DataFrame({"a|b": ["x|y\nz"]})) == "| a\\|b |\n| --- |\n| x\\|y z |"


def test_long_cell_is_cut():
    table = to_markdown(pd.DataFrame({"a": ["x" * (FRAME_CELL_CHARACTERS + 1)]}))

    assert table.splitlines()[2] == f"| {'x' * FRAME_CELL_CHARACTERS}… |"


def test_index_that_says_something_is_a_column():
    frame = pd.DataFrame({"height": [4.1]}, index=pd.Index(["Pier 3"], name="place"))

    assert to_markdown(frame).splitlines()[::2] == ["| place | height |", "| Pier 3 | 4.1 |"]


def test_missing_values_are_empty_cells():
    frame = pd.DataFrame({"a": [None, float("nan"), pd.NA, pd.NaT]}, dtype=object)

    assert to_markdown(frame).splitlines()[2:] == ["|  |"] * 4


def test_series_is_a_table_of_one_column():
    assert to_markdown(pd.Series([1, 2], name="n")) == "| n |\n| --- |\n| 1 |\n| 2 |"


def test_only_frames_and_series_are_frames():
    values = [pd.DataFrame(), pd.Series(dtype=object), pd.Timestamp("2026-01-02"), "text"]

    assert [is_frame(value) for value in values] == [True, True, False, False]

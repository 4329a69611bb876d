"""A pandas DataFrame as a bounded Markdown table, without importing pandas."""

from typing import Any

from ..settings import FRAME_CELL_CHARACTERS, FRAME_COLUMNS, FRAME_ROWS


def is_frame(value: object) -> bool:
    """Say whether `value` is a pandas DataFrame or Series."""
    kind = type(value)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in ("DataFrame", "Series")


def to_markdown(frame: Any) -> str:
    """Write the first `FRAME_ROWS` rows as a Markdown table that says how much it leaves out.

    An index that only counts the rows is left out; missing values are empty cells.
    """
    table = frame.to_frame() if type(frame).__name__ == "Series" else frame
    if type(table.index).__name__ != "RangeIndex":
        table = table.reset_index(allow_duplicates=True)
    part = table.iloc[:FRAME_ROWS, :FRAME_COLUMNS]
    header = [_cell(column, is_missing=False) for column in part.columns]
    missing = part.isna().itertuples(index=False, name=None)
    rows = [
        [_cell(value, is_missing=gone) for value, gone in zip(row, gaps, strict=True)]
        for row, gaps in zip(part.itertuples(index=False, name=None), missing, strict=True)
    ]
    lines = [_line(header), _line(["---"] * len(header)), *map(_line, rows)]
    left_out = [
        f"{total - limit:,} more {what}"
        for total, limit, what in ((len(table), FRAME_ROWS, "rows"), (len(table.columns), FRAME_COLUMNS, "columns"))
        if total > limit
    ]
    if left_out:
        lines += ["", f"… and {' and '.join(left_out)}"]
    return "\n".join(lines)


def _cell(value: object, *, is_missing: bool) -> str:
    if is_missing:
        return ""
    text = " ".join(str(value).split()).replace("|", "\\|")
    return text if len(text) <= FRAME_CELL_CHARACTERS else text[:FRAME_CELL_CHARACTERS] + "…"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"

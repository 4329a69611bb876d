"""Query results as DataFrames whose columns and dtypes do not depend on what happens to be in them."""

import difflib
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from ...errors import InputError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


class Dtype(StrEnum):
    """What a column of a frame holds; text that is missing is NaN, as pandas has it."""

    TEXT = "text"
    """pandas' own dtype for text: `str`, or `object` before pandas 3."""
    LIST = "object"
    """Lists of texts."""
    COUNT = "int64"
    WHOLE = "Int64"
    """Whole numbers that may be missing."""
    NUMBER = "float64"
    FLAG = "bool"
    MAYBE = "boolean"
    """A flag that may be missing."""
    TIME = "datetime64[us, UTC]"


_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")


def escape_controls(text: str) -> str:
    """Make control characters visible (ESC becomes `\\x1b`) except tabs and line ends."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _visible(value: Any) -> Any:
    """Escape the texts in a value, which may hold others."""
    match value:
        case str():
            return escape_controls(value)
        case dict():
            return {_visible(key): _visible(item) for key, item in value.items()}
        case list() | tuple():
            return [_visible(item) for item in value]
        case _ if hasattr(value, "tolist"):  # DuckDB gives lists as numpy arrays
            return _visible(value.tolist())
        case _:
            return value


def read_frame(
    db: "duckdb.DuckDBPyConnection",
    table: str,
    columns: Mapping[str, Dtype],
    *,
    order: str,
    run_id: str | None = None,
) -> "pd.DataFrame":
    """Return `columns` of `table` in the given order, of one run or of all.

    Raises: InputError if there is no run `run_id`.
    """
    if run_id is not None:
        check_run(db, run_id)
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT {names} FROM {table} WHERE $run_id IS NULL OR run_id = $run_id ORDER BY {order}"  # noqa: S608 - constants of this package
    return to_frame(db.execute(query, {"run_id": run_id}), columns)


def to_frame(result: "duckdb.DuckDBPyConnection", columns: Mapping[str, Dtype]) -> "pd.DataFrame":
    """Fetch `result` as a frame with exactly these columns and dtypes, control characters made visible."""
    import pandas as pd

    fetched = result.df()
    return pd.DataFrame({name: _convert(fetched[name], dtype) for name, dtype in columns.items()})


def to_any_frame(result: "duckdb.DuckDBPyConnection") -> "pd.DataFrame":
    """Fetch `result`, whatever its columns are, with control characters made visible."""
    import pandas as pd

    described = result.description or []
    fetched = result.df()
    names = pd.Index([escape_controls(name) for name, *_ in described])
    columns = []
    for position, (_, type_, *_) in enumerate(described):
        column = fetched.iloc[:, position]
        if str(type_) in ("VARCHAR", "JSON"):
            column = _convert(column, Dtype.TEXT)
        elif column.dtype == object:
            column = _convert(column, Dtype.LIST)
        columns.append(column)
    if not columns:
        return fetched
    frame = pd.concat(columns, axis=1)
    frame.columns = names
    return frame


def _convert(column: "pd.Series[Any]", dtype: Dtype) -> "pd.Series[Any]":
    import pandas as pd

    match dtype:
        case Dtype.TEXT:
            different = {value: escape_controls(value) for value in set(column) if isinstance(value, str)}
            return pd.Series([different.get(value) for value in column], dtype=pd.Series([""]).dtype)
        case Dtype.LIST:
            return pd.Series([_visible(value) for value in column], dtype=object)
        case _:
            return column.astype(pd.api.types.pandas_dtype(dtype.value))


def check_run(db: "duckdb.DuckDBPyConnection", run_id: str) -> None:
    """Raise InputError, with the id that was probably meant, unless the store has a run `run_id`."""
    is_text = not _SURROGATE.search(run_id)  # DuckDB takes no other
    if is_text and db.execute("SELECT 1 FROM events WHERE run_id = ? LIMIT 1", [run_id]).fetchone():
        return
    known = [str(row[0]) for row in db.execute("SELECT run_id FROM runs ORDER BY started_at DESC").fetchall()]
    raise InputError(_unknown_run(run_id, known))


def _unknown_run(got: str, known: Sequence[str]) -> str:
    """Word the message; `known` is newest first."""
    near = [run_id for run_id in known if got and run_id.startswith(got)] or difflib.get_close_matches(got, known)
    if near:
        return f"unknown run `{got}` (did you mean {' or '.join(f'`{run_id}`' for run_id in near[:3])}?)"
    newest = ", ".join(known[:5]) or "none"
    return f"unknown run `{got}`; newest: {newest}"

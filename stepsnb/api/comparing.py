"""Two runs side by side."""

from typing import TYPE_CHECKING

from ..run import Difference, compare
from ..view import Row, compared_html, compared_text
from ..visible import visible
from .options import PathLike
from .run import Run
from .stored import show

if TYPE_CHECKING:
    import pandas as pd


class RunDiff:
    """What differs between two runs; shown in a cell it has them side by side, and `df()` is a table."""

    def __init__(self, a: str, b: str, rows: list[Difference]) -> None:
        self.a = a
        self.b = b
        self._rows = rows

    @property
    def is_same(self) -> bool:
        """Whether nothing differs but how long it took."""
        return all(row.is_same for row in self._rows if row.what != "duration_s")

    def df(self) -> "pd.DataFrame":
        """Return the table of `stepsnb.diff`."""
        import pandas as pd

        rows = [
            {
                "step": row.step,
                "what": row.what,
                "a": _text(row.a),
                "b": _text(row.b),
                "change": _change(row),
                "same": row.is_same,
            }
            for row in self._rows
        ]
        kinds = {"step": "string", "what": "string", "a": "string", "b": "string", "change": "float64", "same": "bool"}
        return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)

    def to_text(self) -> str:
        """What a cell shows, as plain text."""
        return compared_text(self.a, self.b, self._shown())

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return compared_html(self.a, self.b, self._shown())

    def _shown(self) -> list[Row]:
        return [Row(row.step, row.what, row.a, row.b) for row in self._rows]


def compare_runs(a: "str | Run", b: "str | Run", *, store: PathLike | None = None) -> RunDiff:
    """Compare two runs of a store, or of this process; see `diff`."""
    first, second = show(a, store=store), show(b, store=store)
    return RunDiff(first.run_id, second.run_id, compare(first.events, second.events))


def diff(a: "str | Run", b: "str | Run", *, store: PathLike | None = None) -> "pd.DataFrame":
    """Say what differs between two runs, step by step.

    Steps are matched by their place in the plan. Columns: step (its place and name, a second visit with its number;
    empty for the whole run), what (`model`, `tools`, `system`, `messages`, `outcome`, `reason`, `verdict`, `note`,
    `response`, `output`, `fallback_model`, the four token classes, `cost_usd`, `duration_s`, `call 1` …), a and b (what
    either run has, as text; missing where it has no such thing), change (float64, b - a of numbers, else NaN), same
    (bool). `%steps diff A B` shows what differs side by side.

    Raises: InputError for an unknown run; StoreError.
    """
    return compare_runs(a, b, store=store).df()


def _text(value: str | float | None) -> str | None:
    if isinstance(value, str):
        return visible(value)
    return None if value is None else f"{value:.10g}"


def _change(row: Difference) -> float | None:
    if isinstance(row.a, str) or isinstance(row.b, str) or row.a is None or row.b is None:
        return None
    return row.b - row.a

"""Puts rows of steps into the order of the plan, which does not depend on which of several at once was faster."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

_Step = tuple[str, str]
_Place = tuple[tuple[int, int], ...]

_BEGUN: Final = """
SELECT
    run_id, step_id, any_value(payload ->> 'parent_id') AS parent_id,
    coalesce(any_value(TRY_CAST(payload ->> 'index' AS BIGINT)), 0) AS place, min(seq) AS seq
FROM events WHERE kind = 'step_started' AND ($run_id IS NULL OR run_id = $run_id) GROUP BY run_id, step_id
"""


def in_plan_order(db: "duckdb.DuckDBPyConnection", frame: "pd.DataFrame", run_id: str | None = None) -> "pd.DataFrame":
    """Sort the rows of each run by where their step (`step_id`) stands in the plan; the order of the runs stays.

    Visits of one step, cells of one matrix and sub-agents of one conversation follow each other as they began. What
    is inside a step comes behind it; a step that is not known to have begun stays last.
    """
    begun: dict[_Step, tuple[str | None, int, int]] = {
        (run, step): (parent, place, seq)
        for run, step, parent, place, seq in db.execute(_BEGUN, {"run_id": run_id}).fetchall()
    }
    runs = {run: number for number, run in enumerate(dict.fromkeys(frame["run_id"]))}
    rows = list(zip(frame["run_id"], frame["step_id"], strict=True))

    def key(row: int) -> tuple[int, bool, _Place]:
        run, step = rows[row]
        place = _place_of(run, step, begun)
        return runs[run], not place, place

    return frame.iloc[sorted(range(len(rows)), key=key)].reset_index(drop=True)


def _place_of(run: str, step: str | None, begun: dict[_Step, tuple[str | None, int, int]]) -> _Place:
    """Return the places from the plan's own step down to this one; a record may say that it is inside itself."""
    places: list[tuple[int, int]] = []
    seen: set[str] = set()
    while step is not None and step not in seen and (run, step) in begun:
        seen.add(step)
        step, place, seq = begun[run, step]
        places.append((place, seq))
    return tuple(reversed(places))

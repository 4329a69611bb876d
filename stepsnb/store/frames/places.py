"""Puts rows of steps into the order of the plan, which does not depend on which of several at once was faster."""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

_BEGUN: Final = """
SELECT
    run_id, step_id, any_value(payload ->> 'parent_id') AS parent_id,
    coalesce(any_value(TRY_CAST(payload ->> 'index' AS BIGINT)), 0) AS place, min(seq) AS seq
FROM events WHERE kind = 'step_started' AND ($run_id IS NULL OR run_id = $run_id) GROUP BY run_id, step_id
"""

_DEPTH: Final = 64
"""Far more than steps may be inside each other; a record may say that one is inside itself."""


def in_plan_order(db: "duckdb.DuckDBPyConnection", frame: "pd.DataFrame", run_id: str | None = None) -> "pd.DataFrame":
    """Sort the rows of each run by where their step (`step_id`) stands in the plan; the order of the runs stays.

    Visits of one step, cells of one matrix and sub-agents of one conversation follow each other as they began. What
    is inside a step comes behind it; a step that is not known to have begun stays last.
    """
    import numpy as np
    import pandas as pd

    begun = db.execute(_BEGUN, {"run_id": run_id}).df()
    steps = pd.MultiIndex.from_arrays([begun["run_id"], begun["step_id"]])
    parents = steps.get_indexer(pd.MultiIndex.from_arrays([begun["run_id"], begun["parent_id"]]))
    ranks = _ranks(parents, begun["place"].to_numpy(), begun["seq"].to_numpy())
    found = steps.get_indexer(pd.MultiIndex.from_arrays([frame["run_id"], frame["step_id"]]))
    places = np.where(found >= 0, np.append(ranks, 0)[found], len(ranks))
    runs, _ = pd.factorize(frame["run_id"])
    return frame.iloc[np.lexsort((places, runs))].reset_index(drop=True)


def _ranks(parents: "Numbers", places: "Numbers", numbers: "Numbers") -> "Numbers":
    """Rank steps by the places, then the numbers, from the plan's own step down to each; `parents` are positions.

    A step has -1 for its parent when it is the plan's own.
    """
    import numpy as np

    count = len(parents)
    if not count:
        return parents
    lines = [np.arange(count)]  # each step, then its parent, then the parent of that
    while len(lines) < _DEPTH and (lines[-1] >= 0).any():
        lines.append(np.where(lines[-1] >= 0, parents[lines[-1]], -1))
    upward = np.stack(lines, axis=1)
    lengths = (upward >= 0).sum(axis=1)
    levels = lengths[:, None] - 1 - np.arange(upward.shape[1])
    downward = np.where(levels >= 0, np.take_along_axis(upward, np.maximum(levels, 0), axis=1), -1)
    keys = [np.where(step >= 0, values[step], -1) for step in downward.T for values in (places, numbers)]
    ranks = np.empty(count, dtype=np.int64)
    ranks[np.lexsort(keys[::-1])] = np.arange(count)
    return ranks

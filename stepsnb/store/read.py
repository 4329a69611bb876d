"""Events of runs as they were recorded."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ..errors import StoreError
from ..events import Event, decode_event
from .frames.frame import check_run

if TYPE_CHECKING:
    from .session import Store

_STEP_KINDS: Final = ("artifact", "step_finished", "step_skipped", "step_started")

_JOB_EVENTS: Final = """
WITH latest AS (
    SELECT run_id, started_at FROM runs WHERE pipeline = $pipeline AND job = $job
    ORDER BY started_at DESC, run_id DESC LIMIT $count
)
SELECT run_id, payload FROM events JOIN latest USING (run_id)
WHERE kind IN (SELECT unnest($kinds)) ORDER BY started_at DESC, run_id DESC, seq
"""


def run_events(store: "Store", run_id: str) -> list[Event]:
    """Return every stored event of a run, in order.

    Raises: InputError for an unknown run; StoreError if one of its events is of a newer stepsnb.
    """
    with store.session() as db:
        check_run(db, run_id)
        rows = db.execute("SELECT payload FROM events WHERE run_id = ? ORDER BY seq", [run_id]).fetchall()
    return _decode(run_id, [row[0] for row in rows])


def run_state(store: "Store", run_id: str) -> str:
    """Return `finished`, `running`, `left` for a fork, or `interrupted` for a run whose process is gone.

    Raises: InputError for an unknown run; StoreError.
    """
    with store.session() as db:
        check_run(db, run_id)
        found = db.execute("SELECT state FROM runs WHERE run_id = ?", [run_id]).fetchone()
    return "interrupted" if found is None else str(found[0])


def job_events(store: "Store", pipeline: str, job: str, *, count: int) -> list[list[Event]]:
    """Return what the steps of the latest runs of a job did and left, latest run first, each run's events in order.

    `pipeline` is the name its file had, `count` how many runs are looked at. Raises: as `run_events`.
    """
    given = {"pipeline": pipeline, "job": job, "count": count, "kinds": list(_STEP_KINDS)}
    with store.session() as db:
        rows = db.execute(_JOB_EVENTS, given).fetchall()
    return [_decode(run_id, [row[1] for row in of_run]) for run_id, of_run in groupby(rows, key=lambda row: row[0])]


def _decode(run_id: str, payloads: Sequence[str]) -> list[Event]:
    import msgspec

    try:
        return [decode_event(payload) for payload in payloads]
    except msgspec.DecodeError as exc:
        raise StoreError(f"run {run_id} has an event this stepsnb cannot read ({exc}); upgrade stepsnb") from exc

"""A run's events as they were recorded."""

from typing import TYPE_CHECKING

from ..errors import StoreError
from ..events import Event, decode_event
from .frames.frame import check_run

if TYPE_CHECKING:
    from .session import Store


def run_events(store: "Store", run_id: str) -> list[Event]:
    """Return every stored event of a run, in order.

    Raises: InputError for an unknown run; StoreError if one of its events is of a newer stepsnb.
    """
    import msgspec

    with store.session() as db:
        check_run(db, run_id)
        rows = db.execute("SELECT payload FROM events WHERE run_id = ? ORDER BY seq", [run_id]).fetchall()
    try:
        return [decode_event(row[0]) for row in rows]
    except msgspec.DecodeError as exc:
        raise StoreError(f"run {run_id} has an event this stepsnb cannot read ({exc}); upgrade stepsnb") from exc

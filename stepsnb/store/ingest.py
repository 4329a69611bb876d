"""Takes every spool's new tail into the database, each event exactly once.

Rows and the offsets that say how far each segment has been read are committed in one transaction, so an ingest
that was killed, or whose commit raised although it had been made, is simply gone on with.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import StoreError
from ..settings import INGEST_BATCH_BYTES, INGEST_BATCH_EVENTS
from .projections import (
    BATCH_KINDS,
    CREATE_BATCH,
    DROP_KNOWN,
    DROP_REMOVED,
    EMPTY_BATCH,
    FILL_BATCH,
    FILL_EVENTS,
    PROJECTIONS,
)
from .segments import UNFINISHED, Damage, SegmentName, is_live, list_segments, read_tail

if TYPE_CHECKING:
    import duckdb


class Ingested(NamedTuple):
    """What one ingest took in."""

    events: int
    damage: tuple[Damage, ...]
    """Only where a recorded event may be lost; what a killed writer never finished is not among it."""


@dataclass
class _Cursor:
    """How far one segment has been read."""

    name: SegmentName
    position: int = 0
    next_seq: int | None = None
    is_closed: bool = False


@dataclass
class _Batch:
    """What will be committed at once."""

    runs: list[tuple[str, int, list[str]]] = field(default_factory=list)
    """Consecutive records: the writer, the number of the first, the payloads."""
    cursors: dict[SegmentName, _Cursor] = field(default_factory=dict)
    damage: list[Damage] = field(default_factory=list)
    events: int = 0
    size: int = 0

    @property
    def is_full(self) -> bool:
        return self.events >= INGEST_BATCH_EVENTS or self.size >= INGEST_BATCH_BYTES

    def add(self, writer: str, seq: int, payload: bytes) -> None:
        text = payload.decode(errors="backslashreplace")
        last_writer, first, payloads = self.runs[-1] if self.runs else ("", 0, [])
        if last_writer == writer and first + len(payloads) == seq:
            payloads.append(text)
        else:
            self.runs.append((writer, seq, [text]))
        self.events += 1
        self.size += len(payload)


def ingest(db: "duckdb.DuckDBPyConnection", spool: Path) -> Ingested:
    """Read what is new in the folder `spool` into the open database `db`.

    Raises: StoreError if a spool is written in a newer format.
    """
    events, damage = 0, list[Damage]()
    for batch in _read_batches(spool, _load_cursors(db)):
        _commit(db, batch)
        events += batch.events
        damage += [found for found in batch.damage if found.reason != UNFINISHED]
    return Ingested(events, tuple(damage))


def _load_cursors(db: "duckdb.DuckDBPyConnection") -> dict[SegmentName, _Cursor]:
    cursors = {}
    for segment, position, next_seq, is_closed in db.execute(
        "SELECT segment, position, next_seq, is_closed FROM spools"
    ).fetchall():
        if name := SegmentName.parse(segment):
            cursors[name] = _Cursor(name, position, next_seq, is_closed)
    return cursors


def _read_batches(spool: Path, cursors: dict[SegmentName, _Cursor]) -> Iterator[_Batch]:
    batch = _Batch()
    for name in list_segments(spool):
        cursor = cursors.setdefault(name, _Cursor(name))
        if cursor.is_closed:
            continue
        if cursor.next_seq is None:
            before = cursors.get(name._replace(number=name.number - 1))
            cursor.next_seq = 0 if name.number == 0 else before.next_seq if before else None
        path = spool / str(name)
        try:
            live = is_live(path)
            for found in read_tail(path, cursor.position, cursor.next_seq, live=live):
                if isinstance(found, Damage):
                    batch.damage.append(found)
                else:
                    batch.add(name.writer, *found.record)
                    cursor.next_seq = found.record.seq + 1
                cursor.position = found.end
                batch.cursors[name] = cursor
                if batch.is_full:
                    yield batch
                    batch = _Batch()
        except FileNotFoundError:
            continue
        except StoreError as exc:
            raise StoreError(f"{path}: {exc}") from exc
        if not live:
            cursor.is_closed = True
            batch.cursors[name] = cursor
    if batch.cursors:
        yield batch


def _commit(db: "duckdb.DuckDBPyConnection", batch: _Batch) -> None:
    db.execute(CREATE_BATCH)
    db.execute("BEGIN")  # an error leaves it open; the session then closes the connection, which takes it back
    for writer, first_seq, payloads in batch.runs:
        db.execute(FILL_BATCH, {"writer": writer, "first_seq": first_seq, "payloads": payloads})
    if batch.runs:
        db.execute(DROP_REMOVED)
        db.execute(DROP_KNOWN)
        db.execute(FILL_EVENTS)
        kinds = {str(row[0]) for row in db.execute(BATCH_KINDS).fetchall()}
        for projection in PROJECTIONS:
            if projection.kinds & kinds:
                db.execute(projection.statement)
        db.execute(EMPTY_BATCH)
    for cursor in batch.cursors.values():
        db.execute(
            "INSERT OR REPLACE INTO spools VALUES (?, ?, ?, ?, ?)",
            [str(cursor.name), cursor.name.writer, cursor.position, cursor.next_seq, cursor.is_closed],
        )
    for found in batch.damage:
        db.execute("INSERT INTO spool_damage VALUES (?, ?, ?, ?, ?, now())", list(found))
    db.execute("COMMIT")

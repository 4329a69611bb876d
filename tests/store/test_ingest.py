from pathlib import Path

import pytest

from stepsnb.errors import StoreError
from stepsnb.events import encode_event
from stepsnb.store import DamagedSpool, Store, open_spool, run_events
from stepsnb.store.records import encode_record
from stepsnb.store.segments import SegmentName
from tests.support.recorded import BEGAN, conversation, record, stamp


def rows(store: Store, query: str) -> list[tuple[object, ...]]:
    with store.session() as db:
        return list(db.execute(query).fetchall())


def segment_of(root: Path) -> Path:
    (path,) = (root / "spool").glob("*.jsonl")
    return path


def write_segment(root: Path, name: SegmentName, lines: list[bytes]) -> Path:
    """Leave a segment as a writer that is gone would."""
    (root / "spool").mkdir(parents=True, exist_ok=True)
    path = root / "spool" / str(name)
    path.write_bytes(b"".join(lines))
    return path


def lines_of(run_id: str, *, first_seq: int = 0) -> list[bytes]:
    return [
        encode_record(seq, encode_event(event))
        for seq, event in enumerate(stamp(run_id, conversation(turns=1)), first_seq)
    ]


def test_every_event_is_taken_once_however_often_someone_reads(root: Path, store: Store) -> None:
    first = record(root, "r1", conversation(turns=1))
    assert run_events(store, "r1") == first
    second = record(root, "r2", conversation(turns=1))

    assert run_events(store, "r1") == first
    assert run_events(store, "r2") == second
    assert rows(store, "SELECT count(*) FROM events") == [(len(first + second),)]


def test_a_run_and_a_number_name_one_event_and_the_first_record_of_it_stands(root: Path, store: Store) -> None:
    first = record(root, "r1", conversation(turns=1))
    again = record(root, "r1", conversation(turns=2), began=BEGAN + 1_000)

    assert run_events(store, "r1") == [*first, *again[len(first) :]]
    assert rows(store, "SELECT count(*) FROM requests WHERE turn = 1") == [(1,)]


def test_events_without_a_run_or_number_are_all_kept(root: Path, store: Store) -> None:
    spool = open_spool(root)
    for _ in range(2):
        spool.append(b'{"kind":"note","text":"a"}')
        spool.append(b'{"kind":"note","run_id":"r1","text":"a"}')

    assert rows(store, "SELECT count(*) FROM events") == [(4,)]


def test_the_same_number_in_another_run_is_another_event(root: Path, store: Store) -> None:
    record(root, "r1", conversation())
    record(root, "r2", conversation())

    assert rows(store, "SELECT count(DISTINCT run_id) FROM turns") == [(2,)]


def test_events_say_who_wrote_them_and_when(root: Path, store: Store) -> None:
    record(root, "r1", conversation()[:1])

    assert rows(store, "SELECT run_id, seq, kind, created_at::VARCHAR, step_id, writer, writer_seq FROM events") == [
        ("r1", 0, "run_started", "2025-10-09 08:53:20+00", "", open_spool(root).writer, 0)
    ]


def test_events_are_taken_in_batches_of_bounded_size(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepsnb.store.ingest.INGEST_BATCH_EVENTS", 3)
    recorded = record(root, "r1", conversation(turns=3))

    assert run_events(store, "r1") == recorded
    assert rows(store, "SELECT count(*) FROM tool_calls WHERE result = '2'") == [(3,)], "starts and ends may be apart"


def test_an_ingest_that_is_cut_off_is_gone_on_with(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = record(root, "r1", conversation())
    with monkeypatch.context() as cut:
        cut.setattr("stepsnb.store.ingest.FILL_EVENTS", "SELECT error('cut')")
        with pytest.raises(StoreError, match="cut"), store.session():
            pass

    assert run_events(store, "r1") == recorded


def test_a_flipped_byte_is_reported_and_costs_that_event_only(root: Path, store: Store) -> None:
    lines = lines_of("r1")
    path = write_segment(root, SegmentName("w", 0), [lines[0], lines[1].replace(b"agent", b"agemt", 1), *lines[2:]])

    with pytest.warns(DamagedSpool, match=rf"{path.name}: damaged or missing records at byte \d+, events lost: 1$"):
        events = run_events(store, "r1")

    assert [event.seq for event in events] == [0, *range(2, len(lines))]
    assert rows(store, "SELECT segment, position, events_lost, reason FROM spool_damage") == [
        (path.name, len(lines[0]), 1, "damaged or missing records")
    ], "and it is reported once"


def test_the_torn_line_of_a_killed_writer_is_no_damage(root: Path, store: Store) -> None:
    lines = lines_of("r1")
    write_segment(root, SegmentName("w", 0), [*lines[:-1], lines[-1][:-9]])

    assert len(run_events(store, "r1")) == len(lines) - 1
    assert rows(store, "SELECT events_lost, reason FROM spool_damage") == [(0, "a last line that was never finished")]


def test_numbers_go_on_from_segment_to_segment(root: Path, store: Store) -> None:
    lines = lines_of("r1")
    write_segment(root, SegmentName("w", 0), lines[:3])
    write_segment(root, SegmentName("w", 1), lines[4:])

    with pytest.warns(DamagedSpool, match=r"w\.0001\.jsonl: .* at byte 0, events lost: 1$"):
        assert len(run_events(store, "r1")) == len(lines) - 1


def test_segments_after_ones_that_were_removed_are_read(root: Path, store: Store) -> None:
    write_segment(root, SegmentName("w", 7), lines_of("r1", first_seq=5_000))

    assert len(run_events(store, "r1")) == len(lines_of("r1"))


def test_a_spool_in_a_newer_format_is_refused_by_name(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr("stepsnb.store.records._VERSION", b"2")
        write_segment(root, SegmentName("w", 0), lines_of("r1"))

    with pytest.raises(StoreError, match=r"w\.0000\.jsonl: record format 2, this stepsnb knows up to 1"):
        run_events(store, "r1")


@pytest.mark.parametrize("payload", [b"not json", b"[1]", b'{"kind":"\xff"}', b"", b'{"kind":7,"seq":"x","at":[]}'])
def test_a_record_that_holds_no_event_is_kept_and_stops_nothing(root: Path, store: Store, payload: bytes) -> None:
    lines = lines_of("r1")
    write_segment(root, SegmentName("w", 0), [encode_record(0, payload), *lines_of("r1", first_seq=1)])

    assert len(run_events(store, "r1")) == len(lines)
    assert rows(store, "SELECT count(*) FROM events WHERE run_id = ''") == [(1,)]


def test_a_field_of_an_unexpected_type_stops_nothing(root: Path, store: Store) -> None:
    odd = b'{"kind":"request","run_id":"r1","seq":99,"at":1.0,"input_tokens":"many","cost_usd":"cheap"}'
    write_segment(root, SegmentName("w", 0), [encode_record(0, odd)])

    assert rows(store, "SELECT input_tokens, cost_usd FROM requests") == [(0, None)]


def test_an_event_of_a_kind_this_stepsnb_does_not_know_is_kept(root: Path, store: Store) -> None:
    write_segment(root, SegmentName("w", 0), [encode_record(0, b'{"kind":"dream","run_id":"r1","seq":0,"at":1.0}')])

    assert rows(store, "SELECT kind FROM events") == [("dream",)]
    with pytest.raises(StoreError, match=r"^run r1 has an event this stepsnb cannot read \(.*dream.*\); upgrade"):
        run_events(store, "r1")


def test_a_spool_that_vanishes_while_it_is_read_is_passed_over(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = write_segment(root, SegmentName("a", 0), lines_of("r0"))
    write_segment(root, SegmentName("b", 0), lines_of("r1"))

    def is_live(path: Path) -> bool:
        gone.unlink(missing_ok=True)
        return path.stat().st_size < 0

    monkeypatch.setattr("stepsnb.store.ingest.is_live", is_live)

    assert rows(store, "SELECT DISTINCT run_id FROM events") == [("r1",)]


def test_segments_whose_writer_is_gone_are_not_looked_at_again(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segment(root, SegmentName("w", 0), lines_of("r1"))
    with store.session():
        pass
    looked_at: list[Path] = []
    monkeypatch.setattr("stepsnb.store.ingest.is_live", lambda path: bool(looked_at.append(path)))

    with store.session():
        pass

    assert looked_at == []

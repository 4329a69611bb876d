import os
from pathlib import Path

import pytest

from stepsnb.store.records import Record, encode_record
from stepsnb.store.segments import (
    DAMAGED,
    SHORTENED,
    UNFINISHED,
    Damage,
    Found,
    Segment,
    SegmentName,
    is_live,
    list_segments,
    read_tail,
)


def lines(count: int) -> list[bytes]:
    return [encode_record(seq, b'{"n":%d}' % seq) for seq in range(count)]


def read(path: Path, position: int = 0, expected: int | None = 0, *, live: bool = False) -> list[Found | Damage]:
    return list(read_tail(path, position, expected, live=live))


def seqs(found: list[Found | Damage]) -> list[int]:
    return [item.record.seq for item in found if isinstance(item, Found)]


def damage(found: list[Found | Damage]) -> list[Damage]:
    return [item for item in found if isinstance(item, Damage)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.0000.jsonl"


def test_every_record_is_read_with_where_it_ends(path: Path) -> None:
    first, second = lines(2)
    path.write_bytes(first + second)

    assert read(path) == [
        Found(Record(0, b'{"n":0}'), len(first)),
        Found(Record(1, b'{"n":1}'), len(first + second)),
    ]


def test_reading_goes_on_from_a_position(path: Path) -> None:
    first, second, third = lines(3)
    path.write_bytes(first + second + third)

    assert seqs(read(path, len(first), 1)) == [1, 2]


def test_lines_longer_than_one_read_are_read_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepsnb.store.segments.SPOOL_READ_BYTES", 5)
    path.write_bytes(b"".join(lines(3)))

    assert seqs(read(path)) == [0, 1, 2]


def test_a_flipped_byte_costs_one_record_and_is_reported(path: Path) -> None:
    first, second, third = lines(3)
    path.write_bytes(first + second.replace(b"n", b"m") + third)

    found = read(path)

    assert seqs(found) == [0, 2]
    assert damage(found) == [Damage(path.name, len(first), len(first + second), 1, DAMAGED)]
    assert str(damage(found)[0]) == "w.0000.jsonl: damaged or missing records at byte 21, events lost: 1"


def test_a_line_end_that_was_flipped_costs_the_two_records_it_stood_between(path: Path) -> None:
    first, second, third = lines(3)
    path.write_bytes(first[:-1] + b"x" + second + third)

    found = read(path)

    assert seqs(found) == [2]
    assert [item.events_lost for item in damage(found)] == [2]


def test_a_record_that_is_missing_is_reported(path: Path) -> None:
    first, second, third = lines(3)
    path.write_bytes(first + third)

    found = read(path)

    assert seqs(found) == [0, 2]
    assert damage(found) == [Damage(path.name, len(first), len(first), 1, DAMAGED)]
    assert second not in path.read_bytes()


def test_a_record_that_comes_twice_is_taken_once(path: Path) -> None:
    first, second, third = lines(3)
    path.write_bytes(first + second + first + second + third)

    found = read(path)

    assert seqs(found) == [0, 1, 2]
    assert [item.events_lost for item in damage(found)] == [0]


def test_the_unfinished_line_of_a_dead_writer_loses_no_event(path: Path) -> None:
    first, second = lines(2)
    path.write_bytes(first + second[:-4])

    assert damage(read(path)) == [Damage(path.name, len(first), len(first + second) - 4, 0, UNFINISHED)]


def test_the_unfinished_line_of_a_live_writer_is_left_for_later(path: Path) -> None:
    first, second = lines(2)
    path.write_bytes(first + second[:-4])

    assert read(path, live=True) == [Found(Record(0, b'{"n":0}'), len(first))]


def test_damage_in_the_last_record_of_a_dead_writer_is_reported(path: Path) -> None:
    first, second = lines(2)
    path.write_bytes(first + second.replace(b"n", b"m"))

    assert damage(read(path)) == [Damage(path.name, len(first), len(first + second), 1, DAMAGED)]


def test_a_segment_that_became_shorter_is_reported(path: Path) -> None:
    first, second = lines(2)
    path.write_bytes(first)

    assert read(path, len(first + second), 2) == [Damage(path.name, len(first), len(first), 0, SHORTENED)]


def test_the_first_record_may_have_any_number_when_none_is_expected(path: Path) -> None:
    path.write_bytes(lines(3)[2])

    assert seqs(read(path, expected=None)) == [2]


def test_a_segment_is_locked_before_it_can_be_seen_and_until_it_is_closed(path: Path) -> None:
    segment = Segment.create(path)

    assert is_live(path)
    assert is_live(path), "asking must not take the writer's place"
    segment.close()
    assert not is_live(path)


def test_a_segment_is_for_its_owner_alone(path: Path) -> None:
    segment = Segment.create(path)

    assert path.stat().st_mode & 0o777 == 0o600
    segment.close()


def test_a_short_write_is_gone_on_with(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segment = Segment.create(path)
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3]))

    segment.write(b"a line\n")

    assert path.read_bytes() == b"a line\n"
    segment.close()


def test_segments_are_listed_by_writer_in_the_order_of_writing(tmp_path: Path) -> None:
    for name in ("b.0000.jsonl", "a.0010.jsonl", "a.0002.jsonl", "notes.txt", ".a.0011.jsonl.new", "x.jsonl"):
        (tmp_path / name).touch()

    assert list_segments(tmp_path) == [SegmentName("a", 2), SegmentName("a", 10), SegmentName("b", 0)]
    assert str(SegmentName("a", 2)) == "a.0002.jsonl"


def test_a_folder_that_is_not_there_has_no_segments(tmp_path: Path) -> None:
    assert list_segments(tmp_path / "none") == []

"""Server-sent events: line ends, comments and splits at any byte."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from stepsnb.llm.stream import EventParser


def parse(*chunks: bytes) -> list[bytes]:
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def test_event_ends_at_an_empty_line_of_any_kind():
    assert parse(b"data: a\n\n") == [b"a"]
    assert parse(b"data: a\r\n\r\n") == [b"a"]
    assert parse(b"data: a\r\r") == [b"a"]


def test_event_is_given_as_soon_as_its_last_line_end_arrived():
    parser = EventParser()
    assert parser.feed(b"data: a\r\n\r") == [b"a"]
    assert parser.feed(b"\ndata: b\r\n\r\n") == [b"b"]


def test_comments_and_other_fields_are_no_data():
    assert parse(b": keep-alive\n\nevent: x\nid: 3\nretry: 5\ndata: a\n\n:\n\n") == [b"a"]


def test_data_lines_of_one_event_are_joined_by_a_line_feed():
    assert parse(b"data: a\ndata\ndata:  b\n\n") == [b"a\n\n b"]


def test_only_one_space_after_the_colon_is_taken_off():
    assert parse(b"data:a\n\ndata:  a\n\n") == [b"a", b" a"]


def test_byte_order_mark_at_the_start_is_skipped():
    assert parse(b"\xef\xbb\xbfdata: a\n\n") == [b"a"]


def test_event_without_an_empty_line_comes_with_the_end():
    parser = EventParser()
    assert parser.feed(b"data: a\n\ndata: b") == [b"a"]
    assert parser.close() == [b"b"]
    assert parser.close() == []


STREAM = '\ufeff: hi\r\n\r\ndata: {"t": "Tromsø 東京 🚢"}\r\n\r\ndata: 1\ndata: 2\r\r: bye\ndata: x\r\n\r\n'.encode()


@given(st.lists(st.integers(0, len(STREAM))))
def test_splits_at_any_bytes_change_nothing(cuts):
    places = sorted({0, len(STREAM), *cuts})
    chunks = [STREAM[start:end] for start, end in itertools.pairwise(places)]
    assert parse(*chunks) == ['{"t": "Tromsø 東京 🚢"}'.encode(), b"1\n2", b"x"]

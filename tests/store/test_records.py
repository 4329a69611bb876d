import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.errors import StoreError
from stepsnb.store.records import Record, decode_record, encode_record

payloads = st.dictionaries(st.text(), st.text() | st.integers()).map(lambda value: json.dumps(value).encode())


@given(st.integers(0, 2**60), payloads)
def test_a_record_is_read_as_it_was_written(seq: int, payload: bytes) -> None:
    line = encode_record(seq, payload)

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_record(line[:-1]) == Record(seq, payload)


@given(st.integers(0, 10**6), payloads, st.data())
def test_a_record_with_one_flipped_bit_is_damaged(seq: int, payload: bytes, data: st.DataObject) -> None:
    line = bytearray(encode_record(seq, payload)[:-1])
    line[data.draw(st.integers(0, len(line) - 1))] ^= 1 << data.draw(st.integers(0, 7))

    assert decode_record(bytes(line)) is None


@given(st.integers(0, 10**6), payloads, st.data())
def test_a_record_cut_short_is_damaged(seq: int, payload: bytes, data: st.DataObject) -> None:
    line = encode_record(seq, payload)[:-1]

    assert decode_record(line[: data.draw(st.integers(0, len(line) - 1))]) is None


def test_a_record_has_this_form() -> None:
    assert encode_record(42, b'{"kind":"x"}') == b'4fc4f557 1 42 {"kind":"x"}\n'


def test_a_record_in_a_newer_format_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepsnb.store.records._VERSION", b"2")
    line = encode_record(0, b"{}")[:-1]
    monkeypatch.undo()

    with pytest.raises(StoreError, match=r"^record format 2, this stepsnb knows up to 1; upgrade stepsnb$"):
        decode_record(line)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.workspace import decode_output, decode_text, trim_partial

TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"))


def test_utf8_is_utf8() -> None:
    decoded = decode_text("blåbær".encode())
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == ("blåbær", "utf-8")


def test_empty_is_text() -> None:
    decoded = decode_text(b"")
    assert decoded is not None
    assert decoded.text == ""


def test_windows_1252_is_found() -> None:
    decoded = decode_text(bytes.fromhex("636166e920313280 0a"))
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == ("café 12€\n", "cp1252")


def test_holes_of_windows_1252_make_it_latin_1() -> None:
    decoded = decode_text(b"caf\xe9 \x81")
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == ("café \x81", "latin-1")


def test_utf16_with_mark_is_decoded() -> None:
    decoded = decode_text(b"\xff\xfeo\0k\0")
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == ("ok", "utf-16-le")


@pytest.mark.parametrize("raw", [bytes(range(256)), b"abc\0def", b"\xff\xfe\x00", b"\x89PNG\r\n\x1a\n\x01\x02"])
def test_binary_is_no_text(raw: bytes) -> None:
    assert decode_text(raw) is None


@given(text=TEXT)
def test_utf8_loses_nothing(text: str) -> None:
    decoded = decode_text(text.encode())
    assert decoded is not None
    assert decoded.bom + decoded.text.encode(decoded.encoding) == text.encode()


@given(text=TEXT, encoding=st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_text_with_a_mark_loses_nothing(text: str, encoding: str) -> None:
    raw = text.encode(encoding)
    decoded = decode_text(raw)
    assert decoded is not None
    assert decoded.text == text
    assert decoded.bom + decoded.text.encode(decoded.encoding) == raw


@given(raw=st.binary())
def test_any_bytes_are_text_without_loss_or_none(raw: bytes) -> None:
    decoded = decode_text(raw)
    assert decoded is None or decoded.bom + decoded.text.encode(decoded.encoding) == raw


@given(text=TEXT, cut=st.integers(0, 3))
def test_output_cut_in_a_character_stays_utf8(text: str, cut: int) -> None:
    raw = text.encode()
    assert text.startswith(decode_output(raw[: len(raw) - cut]))


def test_output_in_another_encoding_is_read() -> None:
    assert decode_output(b"caf\xe9 noir\n") == "café noir\n"


def test_binary_output_is_escaped() -> None:
    assert decode_output(b"\x00\xff\xfe ok") == "\x00\\xff\\xfe ok"


@given(text=TEXT, keep=st.integers(0, 20))
def test_trimmed_end_is_valid_and_misses_at_most_one_character(text: str, keep: int) -> None:
    raw = text.encode()[:keep]
    trimmed = trim_partial(raw)
    trimmed.decode()
    assert raw.startswith(trimmed)
    assert len(raw) - len(trimmed) <= 3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.visible import clip, one_line, visible


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b2J", "\\x9b2J"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\u2066isolated\u2069", "\\u2066isolated\\u2069"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("dos\r\nmac\rend", "dos\nmac\nend"),
    ],
)
def test_what_steers_a_terminal_or_reorders_a_line_is_shown(hostile, shown):
    assert visible(hostile) == shown


@pytest.mark.parametrize("harmless", ["plain", "tab\tand\nline", "Tromsø 日本 👩‍🚀", "שלום\u200f!", "café 12€"])
def test_harmless_text_stays_as_it_is(harmless):
    assert visible(harmless) == harmless


@given(st.text(st.characters(codec=None)))
def test_visible_text_has_no_control_character_and_stays_itself(text):
    once = visible(text)

    assert not [c for c in once if (ord(c) < 0x20 and c not in "\t\n") or 0x7F <= ord(c) < 0xA0]
    assert visible(once) == once
    assert once.encode().decode() == once


def test_clip_says_how_much_is_left_out():
    assert clip("abcdef", 4) == ("abcd", 2)
    assert clip("abcd", 4) == ("abcd", 0)


def test_one_line_folds_white_space_and_ends_in_an_ellipsis_where_it_was_cut():
    assert one_line("a\n\n  b\tc", 10) == "a b c"
    assert one_line("x" * 20, 10) == "x" * 9 + "…"

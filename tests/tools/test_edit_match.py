from hypothesis import given
from hypothesis import strategies as st

from stepsnb.tools.edit_match import Found, find_edit


def applied(text: str, found: Found) -> str:
    (place,) = found.places
    return text[: place.start] + place.replacement + text[place.end :]


def edited(text: str, old: str, new: str) -> tuple[str, str] | None:
    found = find_edit(text, old, new)
    return None if found is None else (found.mode, applied(text, found))


TEXT = st.text(alphabet="ab \n", max_size=30)


@given(TEXT, TEXT.filter(bool), TEXT)
def test_exact_match_changes_only_its_span(text: str, old: str, new: str) -> None:
    found = find_edit(text, old, new, every=True)
    if old in text:
        assert found is not None
        assert found.mode == "exact"
        pieces, done = [], 0
        for place in found.places:
            assert text[place.start : place.end] == old
            pieces += [text[done : place.start], place.replacement]
            done = place.end
        assert "".join([*pieces, text[done:]]) == text.replace(old, new)
    else:
        assert found is None or found.mode != "exact"


@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=5), min_size=3, max_size=8, unique=True), st.data())
def test_lines_outside_an_inexact_match_and_those_in_common_stay(lines: list[str], data: st.DataObject) -> None:
    own = [f"    {line} " for line in lines]
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    changed = data.draw(st.integers(first, last))
    old = [f"\t{line}" for line in lines[first : last + 1]]
    new = [*old[: changed - first], "\tNEW", *old[changed - first + 1 :]]
    assert edited("\n".join(own), "\n".join(old), "\n".join(new)) == (
        "line-trimmed",
        "\n".join([*own[:changed], "    NEW", *own[changed + 1 :]]),
    )


def test_exact_match_is_preferred_to_a_like_one() -> None:
    assert edited("  a\n  b\na\nb\n", "a\nb\n", "c\n") == ("exact", "  a\n  b\nc\n")


def test_further_indentation_follows_the_files_unit() -> None:
    text = "def f():\n\tif x:\n\t\treturn 1\n"
    old = "def f():\n    if x:\n        return 1"
    new = "def f():\n    if x:\n        for y in x:\n            print(y)\n        return 1"
    assert edited(text, old, new) == (
        "line-trimmed",
        "def f():\n\tif x:\n\t\tfor y in x:\n\t\t\tprint(y)\n\t\treturn 1\n",
    )


def test_spaces_stand_for_tabs_where_the_file_has_spaces() -> None:
    assert edited("a:\n    b\n", "a:\n\tb", "a:\n\tb\n\t\tc") == ("line-trimmed", "a:\n    b\n        c\n")


def test_line_end_of_the_block_goes_with_it() -> None:
    assert edited("  a\n  b\n  c\n", "a\nb\n", "") == ("line-trimmed", "  c\n")
    assert edited("  a\n  b", "a\nb\n", "a\nx\n") == ("line-trimmed", "  a\n  x")


def test_blank_text_matches_no_blank_lines() -> None:
    assert edited("a\n\n\n \nb", "\t\n\t\n", "x") is None


def test_two_lines_are_no_block() -> None:
    assert edited("begin\n x\nend", "begin\nend", "x") is None


def test_block_of_another_length_is_not_matched() -> None:
    assert edited("begin\n one\n two\nend", "begin\n one\nend", "x") is None


def test_one_line_without_likeness_spoils_a_block() -> None:
    text = "begin\nalpha beta\ngamma delta\nepsilon\nend\n"
    assert edited(text, "begin\nalpha beta!\ngamma delta!\nepsilon!\nend", "x") is not None
    assert edited(text, "begin\nalpha beta!\ngamma delta!\n42\nend", "x") is None


def test_very_long_lines_are_compared_by_their_beginnings() -> None:
    text = f"begin\n{'ab' * 100_000}\nend\n"
    assert edited(text, f"begin\n{'ab' * 90_000}\nend", "x") == ("block-anchor", "x\n")


def test_changed_line_takes_the_indentation_of_the_line_it_stands_for() -> None:
    text = "class A:\n    def f(self):\n        x = 1\n        return x\n"
    changed = edited(text, "def f(self):\nx = 1\nreturn x", "def f(self):\nx = 1\nreturn -x")
    assert changed == ("line-trimmed", "class A:\n    def f(self):\n        x = 1\n        return -x\n")


def test_search_among_endless_likeness_finds_nothing_rather_than_a_guess() -> None:
    block, other = "{\n" + "abcdefghij" * 50 + "\n}\n", "{\n" + "jihgfedcba" * 50 + "\n}"
    assert edited("{\n" + "jihgfedcbx" * 50 + "\n}\n", other, "q") is not None
    assert edited("{\n" + "jihgfedcbx" * 50 + "\n}\n" + block * 100, other, "q") is None

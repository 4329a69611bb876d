"""The folders in which the outputs of a matrix are collected."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.run.blocks.across import folders_of


def one_axis(*values):
    return [str(folder) for folder in folders_of([{"v": value} for value in values])]


def test_values_name_the_folders():
    assert one_axis("linux", "3.10", "a b-c_d") == ["linux", "3.10", "a b-c_d"]


def test_last_axis_is_the_innermost_folder():
    assert folders_of([{"os": "linux", "arch": "x64"}]) == [Path("linux/x64")]


@pytest.mark.parametrize("value", ["", ".", "..", "/", " ", "\n", "\ud800"])
def test_value_that_is_no_name_gets_one(value):
    assert one_axis(value) == ["_"]


def test_values_of_one_name_get_numbers_in_order():
    assert one_axis("a/b", "a_b", "A_B") == ["a_b", "a_b~2", "A_B~3"]


def test_value_has_one_folder_in_all_cells():
    cells = [{"x": x, "y": y} for x in ("a/b", "a_b") for y in ("1", "2")]

    assert list(map(str, folders_of(cells))) == ["a_b/1", "a_b/2", "a_b~2/1", "a_b~2/2"]


@given(st.lists(st.text(max_size=400), unique=True, max_size=8))
def test_folders_are_told_apart_on_every_disk(values):
    names = one_axis(*values)

    assert len({name.casefold() for name in names}) == len(values)
    for name in names:
        assert name not in ("", ".", "..")
        assert "/" not in name
        assert len(name.encode()) <= 255

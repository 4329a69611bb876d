import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel

from stepsnb.settings import INLINE_OUTPUT_BYTES
from stepsnb.tools import ToolResult
from stepsnb.tools.python_result import to_result


class Item(BaseModel):
    name: str


@dataclass
class Pair:
    a: int
    b: Item


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (None, "null"),
        (3, "3"),
        (True, "true"),
        (float("nan"), "NaN"),
        ([1, "ø"], '[1,"ø"]'),
        ({"a": {1: 2}}, '{"a":{"1":2}}'),
        ({3}, "[3]"),
        (Item(name="x"), '{"name":"x"}'),
        (Pair(1, Item(name="x")), '{"a":1,"b":{"name":"x"}}'),
        (dt.date(2026, 8, 25), '"2026-08-25"'),
        (Decimal("1.10"), '"1.10"'),
        (Path("a/b"), '"a/b"'),
        (b"text", "text"),
        (b"\0\1", "2 bytes that are not text"),
        (np.int64(3), "3"),
        (np.array([[1, 2], [3, 4]]), "[[1,2],[3,4]]"),
        ({"mean": np.float64(1.5)}, '{"mean":1.5}'),
        (1 + 2j, '"1+2j"'),
        (object, "\"<class 'object'>\""),
    ],
)
def test_value_becomes_text(value: Any, text: str) -> None:
    assert to_result(value).content == text


def test_ready_result_is_left_alone() -> None:
    result = ToolResult.error("no")
    assert to_result(result) is result


def test_mapping_is_kept_for_programs() -> None:
    assert to_result({"a": 1}).data == {"a": 1}


def test_value_that_holds_itself_is_told() -> None:
    loop: list[Any] = []
    loop.append(loop)
    result = to_result(loop)
    assert result.is_error
    assert "cannot be written as JSON" in result.content


def test_small_frame_is_a_table_with_its_size() -> None:
    result = to_result(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    assert result.content == "   a  b\n0  1  x\n1  2  y\n[2 x 2 rows x columns]"


def test_large_frame_is_bounded() -> None:
    frame = pd.DataFrame(np.zeros((100_000, 60)))
    text = to_result(frame).content
    assert text.endswith("[100000 x 60 rows x columns]")
    assert len(text) < INLINE_OUTPUT_BYTES


def test_series_is_a_table_too() -> None:
    assert to_result(pd.Series([1, 2])).content == "0    1\n1    2\n[2 rows]"


def test_frame_inside_a_value_is_text() -> None:
    assert '[1 x 1 rows x columns]"' in to_result({"frame": pd.DataFrame({"a": [1]})}).content

"""The table of behaviours is complete, and the tests it names exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "reference" / "conformance.md"
LAST = {"A": 62, "I": 29, "R": 12, "C": 45, "N": 12, "B": 20}
IDS = [f"{letter}{number}" for letter, last in LAST.items() for number in range(1, last + 1)]


def rows() -> list[list[str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in cells if re.fullmatch(r"[A-Z]\d+", row[0])]


def shown_by() -> list[tuple[str, str]]:
    return [(row[0], name) for row in rows() for name in re.findall(r"`([^`]+)`", row[2])]


@cache
def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_behaviour_has_exactly_one_row():
    assert [row[0] for row in rows()] == IDS


def test_every_row_names_a_test_or_the_part_that_brings_it():
    silent = [row[0] for row in rows() if not re.search(r"`|^part [1-9]$", row[2])]

    assert silent == []


@pytest.mark.parametrize(("row", "name"), shown_by())
def test_named_test_exists(row: str, name: str):
    file, _, function = name.partition("::")

    assert (ROOT / file).is_file()
    assert not function or function in functions_of(ROOT / file)

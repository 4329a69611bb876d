from pathlib import Path

import duckdb
import pytest

from stepsnb.errors import StoreError
from stepsnb.store.connection import connected, translated_errors

ROOT = Path("/data/.steps")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            duckdb.IOException('IO Error: Could not write file "x": No space left on device\nmore'),
            "the database of store `/data/.steps` cannot be read "
            '(IO Error: Could not write file "x": No space left on device); free some space; what was recorded is safe',
        ),
        (
            duckdb.Error("Corrupt database file: computed checksum 1"),
            "the database of store `/data/.steps` cannot be read (Corrupt database file: computed checksum 1); "
            'rebuild it from its spools, which hold everything: `stepsnb.Store("/data/.steps").rebuild()`',
        ),
        (duckdb.BinderException("Binder Error: no column x"), "store `/data/.steps`: Binder Error: no column x"),
    ],
)
def test_what_duckdb_raises_says_what_to_do(error: duckdb.Error, message: str) -> None:
    with pytest.raises(StoreError) as told, translated_errors(ROOT):
        raise error

    assert str(told.value) == message
    assert told.value.__cause__ is error


def test_other_errors_pass_through() -> None:
    with pytest.raises(KeyError), translated_errors(ROOT):
        raise KeyError("x")


def test_a_connection_is_closed_whatever_happens_in_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), connected(str(tmp_path / "x.duckdb")) as db:
        raise ZeroDivisionError

    with pytest.raises(duckdb.ConnectionException):
        db.execute("SELECT 1")


def test_an_interrupted_query_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), translated_errors(ROOT):
        raise RuntimeError("Query interrupted")


def test_any_other_error_of_a_program_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match=r"^mine$"), translated_errors(ROOT):
        raise RuntimeError("mine")

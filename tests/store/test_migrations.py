from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from stepsnb.store import schema
from stepsnb.store.schema import Migration, list_migrations, migrate, schema_version


@pytest.fixture
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as connection:
        yield connection


def shape(db: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    """Every column of every table and view."""
    return db.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns ORDER BY ALL"
    ).fetchall()


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [migration.number for migration in list_migrations()] == list(range(1, len(list_migrations()) + 1))


def test_a_new_database_gets_the_newest_schema(db: duckdb.DuckDBPyConnection) -> None:
    assert schema_version(db) == 0

    migrate(db)

    assert schema_version(db) == list_migrations()[-1].number


@pytest.mark.parametrize("start", range(len(list_migrations()) + 1))
def test_going_on_from_any_schema_gives_the_same_as_a_new_database(
    tmp_path: Path, db: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    migrate(db)
    known = list_migrations()
    for count in range(1, start + 1):  # each in a session of its own
        with monkeypatch.context() as older, duckdb.connect(tmp_path / "older.duckdb") as connection:
            older.setattr(schema, "list_migrations", lambda known=known[:count]: known)
            migrate(connection)

    with duckdb.connect(tmp_path / "older.duckdb") as connection:
        migrate(connection)
        assert shape(connection) == shape(db)
        assert schema_version(connection) == schema_version(db)


def test_a_migration_that_fails_leaves_the_schema_before_it(
    tmp_path: Path, db: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(db)
    before = shape(db)
    broken = tmp_path / "0099_broken.sql"
    broken.write_text("CREATE TABLE half (x INTEGER); SELECT error('broken');")
    known = list_migrations()
    monkeypatch.setattr(schema, "list_migrations", lambda: [*known, Migration(99, broken)])

    with pytest.raises(duckdb.Error, match="broken"):
        migrate(db)
    db.execute("ROLLBACK")

    assert shape(db) == before
    assert schema_version(db) == known[-1].number


def test_what_an_older_stepsnb_stored_reads_as_if_nothing_had_been_wrong(
    db: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = list_migrations()
    with monkeypatch.context() as older:
        older.setattr(schema, "list_migrations", lambda: known[:2])
        migrate(db)
    db.execute("INSERT INTO turns BY NAME SELECT 'r1' AS run_id, 's1' AS step_id, 1 AS turn, 'm' AS model")
    db.execute("INSERT INTO tool_ends BY NAME SELECT 'r1' AS run_id, 's1' AS step_id, 1 AS turn, TRUE AS ok")

    migrate(db)

    assert db.execute("SELECT marks, synthetic FROM turns").fetchall() == [([], False)]
    assert db.execute("SELECT ok, code FROM tool_calls").fetchall() == [(True, None)]
    assert db.execute("SELECT model, replies, marked FROM models").fetchall() == [("m", 1, 0)]

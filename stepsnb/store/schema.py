"""Brings a database to the newest schema by the numbered files in `migrations/`, forward only."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import StoreError
from .folder import DATABASE

if TYPE_CHECKING:
    import duckdb


class Migration(NamedTuple):
    """One step from a schema to the next; `number` is the schema it leads to."""

    number: int
    path: Path


def list_migrations() -> list[Migration]:
    """Return every migration in order; a file's name begins with its number."""
    folder = Path(__file__).with_name("migrations")
    return sorted(Migration(int(path.name.partition("_")[0]), path) for path in folder.glob("*.sql"))


def schema_version(db: "duckdb.DuckDBPyConnection") -> int:
    """Return the number of the last migration that was applied, 0 for a new database."""
    import duckdb

    try:
        row = db.execute("SELECT value::INTEGER FROM meta WHERE key = 'schema_version'").fetchone()
    except duckdb.CatalogException:
        return 0
    return int(row[0]) if row else 0


def migrate(db: "duckdb.DuckDBPyConnection") -> None:
    """Apply what is missing, each migration whole or not at all.

    Raises: StoreError if the database is from a newer stepsnb.
    """
    migrations = list_migrations()
    known = migrations[-1].number
    version = schema_version(db)
    if version > known:
        raise StoreError(
            f"{DATABASE} has schema {version}, this stepsnb knows up to {known}; upgrade stepsnb, "
            f"or name another store with `--store`"
        )
    for migration in migrations:
        if migration.number > version:
            _apply(db, migration)


def _apply(db: "duckdb.DuckDBPyConnection", migration: Migration) -> None:
    db.execute("BEGIN")
    db.execute("CREATE TABLE IF NOT EXISTS meta (key VARCHAR PRIMARY KEY, value VARCHAR)")
    db.execute(migration.path.read_text("utf-8"))
    db.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", [str(migration.number)])
    db.execute("COMMIT")
    # A schema change that is only in the write-ahead log when the process dies can make the file unopenable.
    db.execute("CHECKPOINT")

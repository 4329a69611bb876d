"""Any question about the store, in SQL."""

from typing import TYPE_CHECKING

from ...errors import StoreError
from ..connection import is_damage
from ..results import TABLE, load_results
from ..session import Store
from .frame import escape_controls, to_any_frame

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


def sql_df(store: Store, query: str) -> "pd.DataFrame":
    """Return what one DuckDB query gives; it sees every table of the store and `information_schema`.

    Times are in UTC; DECIMAL columns (money) and sums of whole numbers come as float64, so cast the latter
    (`sum(input_tokens)::BIGINT`) to keep them whole.

    Raises: StoreError if the query would write, is not one statement, or DuckDB refuses it, with DuckDB's words.
    """
    import duckdb

    with store.session() as db:
        try:
            _check_reads(db, query)
            if TABLE in query.lower() and store.root.exists():
                load_results(db, store.root)
            # The statement's type is not enough: a SELECT may insert in a WITH clause.
            db.execute("SET enable_external_access = false")
            db.execute("SET python_enable_replacements = false")
            db.execute("BEGIN TRANSACTION READ ONLY")
            return to_any_frame(db.execute(query))
        except duckdb.Error as exc:
            if is_damage(exc):
                raise
            raise StoreError(f"sql: {escape_controls(str(exc))}") from exc


def _check_reads(db: "duckdb.DuckDBPyConnection", query: str) -> None:
    import duckdb

    reading = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI}
    statements = db.extract_statements(query)
    if len(statements) != 1:
        raise StoreError(f"sql: {len(statements)} statements in one query; give exactly one")
    if statements[0].type not in reading:
        kind = statements[0].type.name
        raise StoreError(f"sql: {kind} is refused; the store is read with SELECT, and written by runs only")

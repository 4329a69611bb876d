import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from stepsnb.errors import StoreError
from stepsnb.store import Store, open_spool, sql_df
from stepsnb.store.folder import DATABASE
from tests.support.recorded import conversation, record


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store that holds one run, for queries that change nothing."""
    folder = tmp_path_factory.mktemp("sql") / ".steps"
    record(folder, "r1", conversation())
    yield folder
    open_spool(folder).close()


def test_a_query_sees_all_tables_and_information_schema(store: Store) -> None:
    frame = sql_df(store, "SELECT job, count(*) AS n FROM requests JOIN runs USING (run_id) GROUP BY job")

    assert frame.to_dict("records") == [{"job": "hello", "n": 3}]
    names = sql_df(store, "SELECT table_name FROM information_schema.tables")["table_name"]
    assert {"runs", "steps", "turns", "requests", "tool_calls", "cost", "questions", "transcript", "events"} <= {*names}


def test_an_empty_result_has_the_dtypes_of_a_full_one(store: Store) -> None:
    query = "SELECT run_id, started_at, tags, [job] AS jobs FROM runs"

    assert dict(sql_df(store, f"{query} WHERE false").dtypes) == dict(sql_df(store, query).dtypes)


def test_columns_of_one_name_are_all_kept(store: Store) -> None:
    assert sql_df(store, "SELECT 1 AS a, 'x' AS a").values.tolist() == [[1, "x"]]


@pytest.mark.parametrize("query", ["SHOW TABLES", "EXPLAIN FROM runs", "PIVOT runs ON job USING count(*)"])
def test_other_reading_statements_work_too(store: Store, query: str) -> None:
    assert isinstance(sql_df(store, query), pd.DataFrame)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE FROM events", "sql: DELETE is refused; the store is read with SELECT, and written by runs only"),
        ("COPY events TO 'events.csv'", "sql: COPY is refused"),
        ("ATTACH ':memory:' AS other", "sql: ATTACH is refused"),
        ("SET threads = 1", "sql: SET is refused"),
        ("WITH x AS (DELETE FROM events RETURNING 1) FROM x", "read-only mode"),
        ("SELECT 1; SELECT 2", "sql: 2 statements in one query; give exactly one"),
        (" ", "sql: 0 statements in one query; give exactly one"),
        ("SELEC 1", 'sql: Parser Error: syntax error at or near "SELEC"'),
        ("FROM rums", 'sql: Catalog Error: Table with name rums does not exist!\nDid you mean "runs'),
        ("FROM 'store.duckdb'", "sql: Permission Error: "),
        ("FROM read_text('/etc/hostname')", "sql: Permission Error: "),
        ("SELECT 'x'::INTEGER", "sql: Conversion Error: "),
        ("FROM query", "sql: Catalog Error: Table with name query does not exist!"),
    ],
)
def test_what_cannot_be_answered_says_why(store: Store, query: str, message: str) -> None:
    with pytest.raises(StoreError) as told:
        sql_df(store, query)

    assert message in str(told.value)


def test_names_of_columns_hold_no_control_character(store: Store) -> None:
    frame = sql_df(store, 'SELECT 1 AS "\x1b[2J", 2 AS "tide"')

    assert list(frame.columns) == [r"\x1b[2J", "tide"]
    assert list(sql_df(store, 'SELECT 1 AS "\x1b" WHERE false').columns) == [r"\x1b"]


def test_words_of_an_error_hold_no_control_character(store: Store) -> None:
    with pytest.raises(StoreError) as told:
        sql_df(store, 'SELECT "\x1b[2J" FROM runs')

    assert r"\x1b[2J" in str(told.value)
    assert "\x1b" not in str(told.value)


def test_an_interrupt_during_a_query_is_one(root: Path) -> None:
    script = """
import os, signal, sys, threading
import stepsnb
stepsnb.sql("FROM runs", store=sys.argv[1])
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    stepsnb.sql("SELECT * FROM range(100000000) AS a, range(100) AS b", store=sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", len(stepsnb.sql("FROM runs", store=sys.argv[1])))
"""
    done = subprocess.run([sys.executable, "-c", script, root], capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("interrupted 1\n", "")


def test_damage_met_by_a_query_says_how_to_rebuild(tmp_path: Path) -> None:
    root, store = tmp_path, Store(tmp_path)
    record(root, "r1", conversation())
    open_spool(root).close()
    sql_df(store, "FROM runs")
    content = bytearray((root / DATABASE).read_bytes())
    content[3 * 4096 :] = b"\xff" * len(content[3 * 4096 :])
    (root / DATABASE).write_bytes(content)

    with pytest.raises(StoreError, match="rebuild it from its spools"):
        sql_df(store, "FROM events")

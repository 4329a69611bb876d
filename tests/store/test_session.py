import subprocess
import sys
import threading
from pathlib import Path

import pytest

from stepsnb.errors import StoreError
from stepsnb.store import Store, open_spool, run_events, runs_df
from stepsnb.store.folder import DATABASE
from stepsnb.store.schema import list_migrations
from tests.support.recorded import conversation, record


def everything(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """The rows of every table people read."""
    tables = ("events", "runs", "steps", "turns", "requests", "tool_calls", "questions", "cost", "transcript")
    with store.session() as db:
        return {table: sorted(db.execute(f"FROM {table}").fetchall(), key=str) for table in tables}


def run_script(script: str, *args: object) -> str:
    done = subprocess.run([sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_store_that_does_not_exist_reads_as_empty_and_is_not_created(root: Path, store: Store) -> None:
    assert len(runs_df(store)) == 0
    assert not root.exists()


def test_times_are_in_utc(store: Store, root: Path) -> None:
    open_spool(root)

    with store.session() as db:
        assert db.execute("SELECT current_setting('TimeZone')").fetchone() == ("UTC",)


def test_the_database_and_its_lock_are_their_owners_alone(root: Path, store: Store) -> None:
    record(root, "r1", conversation())
    runs_df(store)

    assert [(root / name).stat().st_mode & 0o777 for name in ("store.duckdb", "store.lock")] == [0o600, 0o600]


def test_importing_the_store_imports_neither_duckdb_nor_pandas_and_appending_does_not_either(root: Path) -> None:
    heavy = run_script(
        "import sys; from pathlib import Path; from stepsnb.store import open_spool;"
        "open_spool(Path(sys.argv[1])).append(b'{}', sync=True);"
        "print({'duckdb', 'pandas', 'filelock', 'numpy'} & set(sys.modules))",
        root,
    )

    assert heavy == "set()\n"


def test_a_deleted_database_is_made_anew_by_whoever_reads_next(root: Path, store: Store) -> None:
    for run_id in ("r1", "r2"):
        record(root, run_id, conversation())
    before = everything(store)
    (root / DATABASE).unlink()

    assert everything(store) == before


def test_changes_logged_for_a_deleted_database_are_not_applied_to_the_new_one(root: Path, store: Store) -> None:
    record(root, "r1", conversation())
    before = everything(store)
    (root / DATABASE).unlink()
    (root / f"{DATABASE}.wal").write_bytes(b"of another database")

    assert everything(store) == before


def test_a_database_whose_creation_was_cut_off_is_made_anew(root: Path, store: Store) -> None:
    recorded = record(root, "r1", conversation())
    (root / DATABASE).write_bytes(b"\0" * 5_000)

    assert run_events(store, "r1") == recorded


def test_rebuild_gives_the_same_tables(root: Path, store: Store) -> None:
    recorded = [*record(root, "r1", conversation()), *record(root, "r2", conversation(outcome=None))]
    before = everything(store)

    assert store.rebuild() == len(recorded)
    assert everything(store) == before


def test_rebuild_reports_damage_and_keeps_what_can_be_read(root: Path, store: Store) -> None:
    recorded = record(root, "r1", conversation())
    open_spool(root).close()
    (path,) = (root / "spool").glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"tides.yml", b"tideZ.yml"))

    with pytest.raises(StoreError, match=rf"rebuilt, but not all .* could be read:\n{path.name}: .* events lost: 1$"):
        store.rebuild()

    assert run_events(store, "r1") == recorded[1:]


def test_rebuilding_what_is_not_there_is_refused(root: Path, store: Store) -> None:
    with pytest.raises(StoreError, match=r"^there is no store `.*` to rebuild; name the folder"):
        store.rebuild()


@pytest.mark.parametrize("start", [0, 4096])
def test_a_damaged_database_says_how_to_rebuild_it(root: Path, store: Store, start: int) -> None:
    recorded = record(root, "r1", conversation())
    runs_df(store)
    content = bytearray((root / DATABASE).read_bytes())
    content[start : start + 8192] = bytes(byte ^ 0xFF for byte in content[start : start + 8192])
    (root / DATABASE).write_bytes(content)

    with pytest.raises(
        StoreError, match=r"cannot be read \(.*\); rebuild it .*: `stepsnb\.Store\(\".*\"\)\.rebuild\(\)`$"
    ):
        runs_df(store)

    assert store.rebuild() == len(recorded)


def test_a_newer_database_is_refused_with_what_to_do(root: Path, store: Store) -> None:
    record(root, "r1", conversation())
    known = list_migrations()[-1].number
    with store.session() as db:
        db.execute("UPDATE meta SET value = '77' WHERE key = 'schema_version'")

    with pytest.raises(
        StoreError,
        match=rf"^store\.duckdb has schema 77, this stepsnb knows up to {known}; upgrade stepsnb, "
        r"or name another store with `--store`$",
    ):
        runs_df(store)


def test_sessions_of_two_threads_take_turns(root: Path, store: Store) -> None:
    open_spool(root)
    inside, most = 0, 0

    def read() -> None:
        nonlocal inside, most
        for _ in range(3):
            with Store(root).session():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == 1


def test_waiting_in_vain_names_who_holds_the_store(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepsnb.store.session.STORE_WAIT_S", 0.05)
    open_spool(root)
    script = """
import sys
from stepsnb.store import Store
with Store(sys.argv[1]).session():
    print("open", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(
            StoreError, match=r"^store `.*` has been in use by (process \d+ \(.*python.*|another)"
        ) as told:
            runs_df(store)
        holder.communicate(b"")

    if Path("/proc/locks").exists():
        assert f"process {holder.pid} " in str(told.value)


def test_a_session_inside_a_session_is_told_about_itself(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepsnb.store.session.STORE_WAIT_S", 0.05)
    open_spool(root)

    with (
        store.session(),
        pytest.raises(StoreError, match=r"has been in use by (this process, in another session|another process) for"),
    ):
        runs_df(store)


def test_a_database_open_in_another_program_says_so(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepsnb.store.connection.STORE_WAIT_S", 0.05)
    record(root, "r1", conversation())
    runs_df(store)
    script = "import duckdb, sys; db = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, root / DATABASE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        program.stdout.readline()
        with pytest.raises(StoreError, match=r"store\.duckdb` is open in a program other than stepsnb; close it there"):
            runs_df(store)
        program.communicate(b"")

    assert len(runs_df(store)) == 1


def test_an_error_inside_a_session_leaves_the_store_usable(root: Path, store: Store) -> None:
    record(root, "r1", conversation())
    with pytest.raises(StoreError, match="no_such_table"), store.session() as db:
        db.execute("FROM no_such_table")
    with pytest.raises(ZeroDivisionError), store.session():
        raise ZeroDivisionError

    assert len(runs_df(store)) == 1


def test_a_store_is_refused_after_a_fork_and_a_new_one_is_not(root: Path) -> None:
    record(root, "r1", conversation())
    told = run_script(
        """
import os, sys
from stepsnb.errors import StoreError
from stepsnb.store import Store, runs_df
store = Store(sys.argv[1])
runs_df(store)
if os.fork() == 0:
    try:
        runs_df(store)
    except StoreError as exc:
        print(exc, flush=True)
    print(len(runs_df(Store(sys.argv[1]))), flush=True)
    os._exit(0)
os.wait()
""",
        root,
    ).splitlines()

    assert told == [f"store `{root}` was opened before this process was forked; make a new `Store` in the child", "1"]


def test_a_child_forked_inside_a_session_is_refused_any_store(root: Path) -> None:
    record(root, "r1", conversation())
    told = run_script(
        """
import os, sys
from stepsnb.errors import StoreError
from stepsnb.store import Store, runs_df
with Store(sys.argv[1]).session():
    child = os.fork()
    if child == 0:
        try:
            runs_df(Store(sys.argv[1]))
        except StoreError as exc:
            print(exc, flush=True)
        os._exit(0)
    os.wait()
print(len(runs_df(Store(sys.argv[1]))))
""",
        root,
    ).splitlines()

    assert told == [
        f"a session with a store was open when this process was forked; read `{root}` in a process of its own",
        "1",
    ]

import subprocess
import sys
from pathlib import Path

import pytest

from stepsnb.errors import StoreError
from stepsnb.resources import FileVersionStore, JobRun, succeeded_runs, version_key


@pytest.fixture
def store(tmp_path: Path) -> FileVersionStore:
    return FileVersionStore(tmp_path / "store")


def names(store: FileVersionStore) -> list[tuple[str, int]]:
    return [(each.version["n"], each.check_order) for each in store.known("scope")]


def test_versions_are_kept_in_the_order_they_were_found(store: FileVersionStore, tmp_path: Path) -> None:
    store.add("scope", [{"n": "1"}, {"n": "2"}])
    store.add("scope", [{"n": "3"}])
    assert [(each.version["n"], each.check_order) for each in FileVersionStore(tmp_path / "store").known("scope")] == [
        ("1", 1),
        ("2", 2),
        ("3", 3),
    ]


def test_known_version_is_not_added_again(store: FileVersionStore) -> None:
    store.add("scope", [{"n": "1"}, {"n": "2"}])
    added = store.add("scope", [{"n": "2"}, {"n": "3"}])
    assert [each.version["n"] for each in added] == ["3"]
    assert names(store) == [("1", 1), ("2", 2), ("3", 3)]


def test_published_version_has_no_place_until_a_check_lists_it(store: FileVersionStore) -> None:
    store.add("scope", [{"n": "1"}])
    (put,) = store.add("scope", [{"n": "2"}], from_check=False)
    assert (put.check_order, put.from_check) == (0, False)
    (seen,) = store.add("scope", [{"n": "1"}, {"n": "2"}])
    assert (seen.check_order, seen.from_check) == (2, True)
    assert names(store) == [("1", 1), ("2", 2)]


def test_publishing_what_a_check_has_listed_changes_nothing(store: FileVersionStore) -> None:
    store.add("scope", [{"n": "1"}])
    assert store.add("scope", [{"n": "1"}], from_check=False) == []
    assert names(store) == [("1", 1)]


def test_version_a_resource_went_back_to_is_the_newest_again(store: FileVersionStore) -> None:
    store.add("scope", [{"n": "1"}, {"n": "2"}, {"n": "3"}])
    assert [each.version["n"] for each in store.add("scope", [{"n": "2"}])] == ["2"]
    assert names(store) == [("1", 1), ("3", 3), ("2", 4)]


def test_check_that_lists_everything_each_time_moves_nothing(store: FileVersionStore) -> None:
    store.add("scope", [{"n": "1"}, {"n": "2"}])
    assert store.add("scope", [{"n": "1"}, {"n": "2"}]) == []
    assert names(store) == [("1", 1), ("2", 2)]


def test_files_are_only_added_to(store: FileVersionStore, tmp_path: Path) -> None:
    store.add("scope", [{"n": "1"}], from_check=False)
    (file,) = (tmp_path / "store" / "versions").iterdir()
    before = file.read_bytes()
    store.add("scope", [{"n": "1"}, {"n": "2"}])
    assert file.read_bytes().startswith(before)


def test_line_cut_by_a_kill_is_left_out_and_harms_no_later_one(store: FileVersionStore, tmp_path: Path) -> None:
    store.add("scope", [{"n": "1"}, {"n": "2"}])
    (file,) = (tmp_path / "store" / "versions").iterdir()
    file.write_bytes(file.read_bytes()[:-10])
    assert names(store) == [("1", 1)]
    store.add("scope", [{"n": "3"}])
    assert names(store) == [("1", 1), ("3", 2)]


def test_processes_that_add_at_the_same_time_lose_nothing(store: FileVersionStore, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from stepsnb.resources import FileVersionStore\n"
        "store = FileVersionStore(Path('store'))\n"
        "for i in range(50): store.add('scope', [{'n': f'{sys.argv[1]}-{i}'}])"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(each)], cwd=tmp_path) for each in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert sorted(order for _, order in names(store)) == list(range(1, 151))


def test_resources_have_histories_of_their_own(store: FileVersionStore) -> None:
    store.add("scope", [{"n": "1"}])
    assert store.known("another") == []


def test_runs_of_a_job_are_kept_in_order(store: FileVersionStore) -> None:
    first = JobRun(run_id="r1", has_succeeded=True, gets={"code": {"n": "1"}}, resources={"repo": {"n": "1"}})
    second = JobRun(run_id="r2", has_succeeded=False, gets={"code": {"n": "2"}}, resources={"repo": {"n": "2"}})
    store.add_run("file.yml/unit", first)
    store.add_run("file.yml/unit", second)
    assert store.runs("file.yml/unit") == [first, second]
    assert store.runs("file.yml/deploy") == []


def test_only_runs_that_succeeded_let_versions_through(store: FileVersionStore) -> None:
    store.add_run("unit", JobRun(run_id="r1", has_succeeded=True, resources={"repo": {"n": "1"}}))
    store.add_run("unit", JobRun(run_id="r2", has_succeeded=False, resources={"repo": {"n": "2"}}))
    assert succeeded_runs(store, {"unit": "unit", "lint": "lint"}) == {"unit": [{"repo": {"n": "1"}}], "lint": []}


def test_folder_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(StoreError, match="cannot keep versions"):
        FileVersionStore(tmp_path / "store").add("scope", [{"n": "1"}])


def listed(*numbers: int) -> list[dict[str, str]]:
    return [{"n": str(number)} for number in numbers]


def key(number: int) -> str:
    return version_key({"n": str(number)})


def test_newest_versions_and_the_needed_ones_stay(store: FileVersionStore) -> None:
    store.add("scope", listed(1, 2, 3, 4, 5))
    store.drop_oldest("scope", keep=2, needed={key(2)})
    assert names(store) == [("2", 2), ("4", 4), ("5", 5)]


def test_what_follows_a_followed_version_stays(store: FileVersionStore) -> None:
    store.add("scope", listed(1, 2, 3, 4, 5))
    store.drop_oldest("scope", keep=1, needed=(), followed={key(3), key(4)})
    assert names(store) == [("3", 3), ("4", 4), ("5", 5)]


def test_dropped_version_that_a_check_lists_again_is_not_new(store: FileVersionStore) -> None:
    store.add("scope", listed(1, 2, 3, 4, 5))
    store.drop_oldest("scope", keep=2, needed={key(1)})
    added = store.add("scope", listed(1, 2, 3, 4, 5, 6))
    assert [each.version["n"] for each in added] == ["6"]
    assert names(store) == [("1", 1), ("4", 4), ("5", 5), ("6", 6)]


def test_resource_that_went_back_to_a_dropped_version_is_at_that_one(store: FileVersionStore) -> None:
    store.add("scope", listed(1, 2, 3))
    store.drop_oldest("scope", keep=1, needed=())
    store.add("scope", listed(1))
    assert names(store) == [("3", 3), ("1", 4)]


def test_runs_need_what_they_had_until_they_are_removed_and_the_last_one_always(store: FileVersionStore) -> None:
    for number in (1, 2, 3):
        run = JobRun(run_id=f"r{number}", has_succeeded=True, gets={"code": {"n": str(number)}})
        store.add_run("job", run)
    assert store.needed(()) == {key(1), key(2), key(3)}
    assert store.needed({"r1", "r3"}) == {key(2), key(3)}


DROPPER = """
import sys
from pathlib import Path
from stepsnb.resources import FileVersionStore

store = FileVersionStore(Path(sys.argv[1]))
for _ in range(200):
    store.drop_oldest("scope", keep=1, needed=())
"""


def test_nothing_added_while_others_are_dropped_is_lost(tmp_path: Path) -> None:
    root = tmp_path / "store"
    store = FileVersionStore(root)
    store.add("scope", listed(0))
    with subprocess.Popen([sys.executable, "-c", DROPPER, str(root)]) as dropper:
        number = 0
        while dropper.poll() is None:
            number += 1
            (added,) = store.add("scope", listed(number))
            assert added.check_order == number + 1
    assert dropper.returncode == 0
    assert names(store)[-1] == (str(number), number + 1)

import os
from pathlib import Path

import pytest

from stepsnb.errors import StoreError
from stepsnb.store import Store, open_spool, runs_df
from tests.support.recorded import conversation, record


@pytest.mark.parametrize(
    ("name", "shown", "found"),
    [
        ("why?", "why?", "a `?`"),
        ("a\\b", "a\\b", "a backslash"),
        ("a\0b", "a␀b", "a NUL"),
        (os.fsdecode(b"\xff"), "\\udcff", "a name that is not UTF-8"),
    ],
)
def test_a_path_that_could_not_be_read_is_refused_before_anything_is_recorded(
    tmp_path: Path, name: str, shown: str, found: str
) -> None:
    for use in (open_spool, Store):
        with pytest.raises(StoreError) as told:
            use(tmp_path / name / ".steps")
        assert str(told.value) == (
            f"store `{tmp_path}/{shown}/.steps`: no store can be read from a path with {found}; "
            "name another with `store=` or `--store`"
        )

    assert list(tmp_path.iterdir()) == []


def test_a_path_is_judged_with_the_current_folder_it_starts_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "why?"
    folder.mkdir()
    monkeypatch.chdir(folder)

    with pytest.raises(StoreError, match="a path with a `\\?`"):
        Store(".steps")


def test_a_current_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(StoreError, match=r"^store `\.steps`: the current folder is gone; change to one that exists$"):
        open_spool(Path(".steps"))


@pytest.mark.parametrize("name", ["~", "s3:", "file:", "md:", "a b", "#[*]", "café", "line\nend"])
def test_every_other_path_is_a_folder_whatever_it_means_to_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path(name) / "x"
    record(root, "r1", conversation())

    assert runs_df(Store(root))["run_id"].tolist() == ["r1"]
    assert (tmp_path / root / "store.duckdb").is_file()
    open_spool(root).close()

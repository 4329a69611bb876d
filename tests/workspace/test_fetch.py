import os
from pathlib import Path

import pytest

from stepsnb.errors import InputError, WorkspaceError
from stepsnb.workspace import ArtifactTree, RunWorkspace, fetch_path, gather_files


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "project"
    for path in ("data/a.csv", "data/deep/b.csv", "data/deep/b.log", "data/.steps/store.duckdb", "data/build/x.o"):
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        (base / path).write_text(path)
    return base


@pytest.fixture
def fetch(base: Path, workspace: RunWorkspace):
    def fetch(**source: object) -> ArtifactTree:
        return fetch_path(source, name="input", base_dir=base, workspace=workspace)

    return fetch


def test_folder_becomes_an_artifact_of_its_content(fetch) -> None:
    tree = fetch(path="data")
    assert tree.name == "input"
    assert tree.files == ("a.csv", "build/x.o", "deep/b.csv", "deep/b.log")


def test_single_file_becomes_an_artifact_that_holds_it(fetch) -> None:
    assert fetch(path="data/a.csv").files == ("a.csv",)


def test_file_reached_through_a_link_keeps_the_name_it_was_given_by(fetch, base: Path) -> None:
    (base / "latest.csv").symlink_to("data/a.csv")
    tree = fetch(path="latest.csv")
    assert tree.files == ("latest.csv",)
    assert not (tree.path / "latest.csv").is_symlink()


def test_home_is_expanded(fetch, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(base))
    assert fetch(path="~/data/a.csv").files == ("a.csv",)


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        (["*.log"], ("a.csv", "build/x.o", "deep/b.csv")),
        (["build"], ("a.csv", "deep/b.csv", "deep/b.log")),
        (["build/", "deep/*.csv"], ("a.csv", "deep/b.log")),
        (["**/*.csv"], ("build/x.o", "deep/b.log")),
    ],
)
def test_ignored_files_are_left_out(fetch, ignore: list[str], left: tuple[str, ...]) -> None:
    assert fetch(path="data", ignore=ignore).files == left


def test_store_inside_the_folder_is_left_out(base: Path) -> None:
    workspace = RunWorkspace(base / "mystore", "r")
    tree = fetch_path({"path": "."}, name="all", base_dir=base, workspace=workspace)
    assert not any(path.startswith("mystore") for path in tree.files)
    workspace.close()


def test_version_is_the_content(fetch, base: Path) -> None:
    before = fetch(path="data").digest
    os.utime(base / "data" / "a.csv", (1, 1))
    assert fetch(path="data").digest == before
    (base / "data" / "a.csv").write_text("new")
    assert fetch(path="data").digest != before


def test_link_that_leads_out_is_refused_with_what_to_do(fetch, base: Path) -> None:
    (base / "secret").write_text("s")
    (base / "data" / "out").symlink_to("../secret")
    with pytest.raises(WorkspaceError) as caught:
        fetch(path="data")
    assert str(caught.value) == (
        "resource `input`: `out` is a symbolic link that leads out, which an artifact cannot hold; "
        "add it to `ignore:`, or bring in what it leads to by itself"
    )
    assert "out" not in fetch(path="data", ignore=["out"]).files


def test_named_pipe_is_refused(fetch, base: Path) -> None:
    os.mkfifo(base / "pipe")
    with pytest.raises(WorkspaceError, match="is neither a file nor a folder"):
        fetch(path="pipe")


def test_missing_file_is_named_with_where_it_was_looked_for(fetch, base: Path) -> None:
    with pytest.raises(WorkspaceError) as caught:
        fetch(path="data/c.csv")
    assert str(caught.value) == (
        f"resource `input`: no file or folder `data/c.csv` in `{base}`; correct `path:`, or create it"
    )


def test_path_with_nul_is_refused(fetch) -> None:
    with pytest.raises(WorkspaceError, match="is no usable path"):
        fetch(path="a\0b")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "`path:` must name a file or folder"),
        ({"path": 3}, "`path:` must name a file or folder"),
        ({"path": "data", "ignored": []}, "unknown key `ignored` (did you mean `ignore`?); available: ignore, path"),
        ({"path": "data", "ignore": "*.log"}, '`ignore:` must be a list of globs, as in `["*.log", "build"]`'),
        (
            {"path": "data", "ignore": ["a/**"]},
            "`**` in `a/**` works only as the first part of a glob, as in `**/*.md`",
        ),
    ],
)
def test_source_that_says_something_else_is_refused(fetch, source: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        fetch(**source)
    assert str(caught.value) == f"resource `input`: {message}"


def test_files_are_gathered_under_their_names(base: Path, workspace: RunWorkspace) -> None:
    tree = gather_files(["data/a.csv", base / "data" / "deep"], base_dir=base, workspace=workspace)
    assert tree.name == "files"
    assert tree.files == ("a.csv", "deep/b.csv", "deep/b.log")


def test_the_same_file_twice_is_gathered_once(base: Path, workspace: RunWorkspace) -> None:
    tree = gather_files(["data/a.csv", "./data/a.csv"], base_dir=base, workspace=workspace)
    assert tree.files == ("a.csv",)


def test_missing_and_clashing_files_are_all_named(base: Path, workspace: RunWorkspace) -> None:
    (base / "a.csv").write_text("other")
    with pytest.raises(InputError) as caught:
        gather_files(["data/a.csv", "a.csv", "nope"], base_dir=base, workspace=workspace)
    assert str(caught.value) == (
        f"files: `a.csv` and `{base}/data/a.csv` have the same name; rename one, or hand in their folder; "
        f"no file or folder `nope` in `{base}`"
    )

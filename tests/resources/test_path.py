from pathlib import Path

import pytest

from stepsnb.errors import ResourceError
from stepsnb.resources import PathType, fetch_artifact
from stepsnb.workspace import RunWorkspace


@pytest.fixture
def type_(tmp_path: Path, workspace: RunWorkspace) -> PathType:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "a.csv").write_text("a")
    (tmp_path / "data" / "deep" / "b.log").write_text("b")
    return PathType("input", base_dir=tmp_path, store_root=workspace.root)


@pytest.mark.parametrize(
    "source", [{"path": "data"}, {"path": "data/a.csv"}, {"path": "data", "ignore": ["*.log"]}, {"path": "."}]
)
async def test_version_is_the_digest_of_the_artifact(type_, workspace: RunWorkspace, source) -> None:
    (version,) = await type_.check(source, None)
    tree, fetched = await fetch_artifact(type_, source, version, {}, name="input", workspace=workspace)
    assert version == fetched == {"digest": tree.digest}


async def test_changed_content_is_a_new_version(type_, tmp_path: Path) -> None:
    (before,) = await type_.check({"path": "data"}, None)
    (tmp_path / "data" / "a.csv").write_text("changed")
    assert await type_.check({"path": "data"}, before) != [before]


async def test_what_is_ignored_makes_no_version(type_, tmp_path: Path) -> None:
    source = {"path": "data", "ignore": ["*.log"]}
    before = await type_.check(source, None)
    (tmp_path / "data" / "new.log").write_text("noise")
    assert await type_.check(source, None) == before


async def test_store_is_part_of_no_version(type_, tmp_path: Path, workspace: RunWorkspace) -> None:
    before = await type_.check({"path": "."}, None)
    workspace.add_tree("x", lambda folder: None)
    assert await type_.check({"path": "."}, None) == before


async def test_version_that_is_gone_cannot_be_fetched(type_, tmp_path: Path, workspace: RunWorkspace) -> None:
    (version,) = await type_.check({"path": "data"}, None)
    (tmp_path / "data" / "a.csv").write_text("changed")
    with pytest.raises(ResourceError, match=r"has other content than that version by now; .*`version: latest`"):
        await fetch_artifact(type_, {"path": "data"}, version, {}, name="input", workspace=workspace)


async def test_without_a_version_it_is_what_is_there_now(type_, workspace: RunWorkspace) -> None:
    tree, version = await fetch_artifact(type_, {"path": "data"}, None, {}, name="input", workspace=workspace)
    assert tree.files == ("a.csv", "deep/b.log")
    assert version == {"digest": tree.digest}


async def test_missing_file_is_named(type_) -> None:
    with pytest.raises(ResourceError, match="resource `input`: no file or folder `nope`"):
        await type_.check({"path": "nope"}, None)


async def test_parameters_are_refused(type_, tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="type `path` has no `params:`"):
        await type_.fetch({"path": "data"}, None, {"depth": 1}, tmp_path)


async def test_nothing_is_published_to_a_users_folder(type_, tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot be published to; take files out with `copy`"):
        await type_.publish({"path": "data"}, {}, tmp_path)


async def test_link_that_leads_out_makes_no_version(type_, tmp_path: Path) -> None:
    (tmp_path / "data" / "out").symlink_to("/etc/passwd")
    with pytest.raises(ResourceError, match="`out` is a symbolic link that leads out, which an artifact cannot hold"):
        await type_.check({"path": "data"}, None)

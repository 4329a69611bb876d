import os
from pathlib import Path

import pytest

from stepsnb.errors import InputError, WorkspaceError
from stepsnb.workspace import copy_out


@pytest.fixture
def tree(make_tree) -> Path:
    return make_tree("report", {"a.md": "a", "deep/b.md": "b"}).path


def test_files_are_copied_into_a_new_folder(tree: Path, tmp_path: Path) -> None:
    assert copy_out(tree, tmp_path / "out") == ("a.md", "deep/b.md")
    assert (tmp_path / "out" / "deep" / "b.md").read_text() == "b"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.md", "deep"]


def test_what_is_there_already_is_not_written_again(tree: Path, tmp_path: Path) -> None:
    copy_out(tree, tmp_path / "out")
    (tmp_path / "out" / "deep" / "b.md").unlink()
    assert copy_out(tree, tmp_path / "out") == ("deep/b.md",)


def test_other_content_is_not_replaced_and_nothing_is_written(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "deep").mkdir(parents=True)
    (out / "deep" / "b.md").write_text("mine")
    with pytest.raises(InputError) as caught:
        copy_out(tree, out)
    assert str(caught.value) == (
        f"`{out}` already has `deep/b.md` with other content; name another folder, or force the copy"
    )
    assert not (out / "a.md").exists()


def test_force_replaces_other_content(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    assert copy_out(tree, tmp_path, force=True) == ("a.md", "deep/b.md")
    assert (tmp_path / "a.md").read_text() == "a"


def test_force_replaces_a_link_not_what_it_leads_to(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").symlink_to("../precious")
    copy_out(tree, tmp_path / "out", force=True)
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "out" / "a.md").read_text() == "a"


def test_nothing_is_written_through_a_folder_that_leads_out(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").symlink_to("../elsewhere")
    with pytest.raises(InputError, match=r"`deep/b\.md` cannot be a file: a folder or a link is in the way"):
        copy_out(tree, tmp_path / "out", force=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("make", [lambda p: (p / "a.md").mkdir(), lambda p: (p / "deep").write_text("x")])
def test_folder_in_the_way_of_a_file_is_named(tree: Path, tmp_path: Path, make) -> None:
    (tmp_path / "out").mkdir()
    make(tmp_path / "out")
    with pytest.raises(InputError, match="cannot be a file: a folder or a link is in the way"):
        copy_out(tree, tmp_path / "out", force=True)


def test_links_and_executable_bits_are_copied(workspace, tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "run").write_text("x")
        (folder / "run").chmod(0o755)
        (folder / "link").symlink_to("run")

    copy_out(workspace.add_tree("bin", fill).path, tmp_path / "out")
    assert os.access(tmp_path / "out" / "run", os.X_OK)
    assert (tmp_path / "out" / "link").readlink() == Path("run")
    assert copy_out(workspace.add_tree("bin", fill).path, tmp_path / "out") == ()


def test_target_that_is_a_file_is_refused(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="is a file; name a folder to copy into"):
        copy_out(tree, tmp_path / "out")


def test_artifact_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="the artifact `abc` is gone from the store; run its step again"):
        copy_out(tmp_path / "abc", tmp_path / "out")


def test_unwritable_target_is_a_workspace_error(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot copy to"):
        copy_out(tree, tmp_path / ("x" * 300))

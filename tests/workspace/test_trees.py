import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.workspace.trees import UnfitEntry, copy_tree, digest_tree, remove_tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "bin").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("hello")
    (folder / "bin" / "run").write_text("#!/bin/sh\n")
    (folder / "bin" / "run").chmod(0o755)
    (folder / "link").symlink_to("notes.txt")
    return folder


def copied(tree: Path, name: str = "copy") -> Path:
    copy = tree.parent / name
    copy.mkdir()
    copy_tree(tree, copy)
    return copy


def test_copy_has_the_same_digest(tree: Path) -> None:
    assert digest_tree(copied(tree), "a").digest == digest_tree(tree, "a").digest


def test_copy_keeps_executable_bit_link_and_time(tree: Path) -> None:
    os.utime(tree / "notes.txt", (1, 1))
    copy = copied(tree)
    assert os.access(copy / "bin" / "run", os.X_OK)
    assert (copy / "link").readlink() == Path("notes.txt")
    assert (copy / "notes.txt").stat().st_mtime == 1


def test_copy_of_a_read_only_file_can_be_written(tree: Path) -> None:
    (tree / "notes.txt").chmod(0o444)
    assert (copied(tree) / "notes.txt").stat().st_mode & stat.S_IWUSR


def test_description_lists_files_and_their_size(tree: Path) -> None:
    described = digest_tree(tree, "notes")
    assert described.name == "notes"
    assert described.files == ("bin/run", "link", "notes.txt")
    assert described.bytes == len("hello") + len("#!/bin/sh\n")


def change_text(tree: Path) -> None:
    (tree / "notes.txt").write_text("hallo")


def change_mode(tree: Path) -> None:
    (tree / "bin" / "run").chmod(0o644)


def change_name(tree: Path) -> None:
    (tree / "notes.txt").rename(tree / "note.txt")


def change_link(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("bin")


def change_folder(tree: Path) -> None:
    (tree / "empty").rmdir()


@pytest.mark.parametrize("change", [change_text, change_mode, change_name, change_link, change_folder])
def test_digest_tells_trees_apart(tree: Path, change) -> None:
    before = digest_tree(tree, "a").digest
    change(tree)
    assert digest_tree(tree, "a").digest != before


def test_digest_is_of_content_not_of_time_or_name(tree: Path) -> None:
    before = digest_tree(tree, "a").digest
    os.utime(tree / "notes.txt", (1, 1))
    (tree / "notes.txt").chmod(0o600)
    assert digest_tree(tree, "b").digest == before


PATHS = st.sampled_from(["a", "b", "ab", "a-", "c/a", "c/b"])


@given(one=st.dictionaries(PATHS, st.binary(max_size=4)), other=st.dictionaries(PATHS, st.binary(max_size=4)))
def test_digests_are_equal_exactly_when_the_files_are(tmp_path_factory: pytest.TempPathFactory, one, other) -> None:
    digests = []
    for files in (one, other):
        folder = tmp_path_factory.mktemp("tree")
        (folder / "c").mkdir()
        for path, raw in files.items():
            (folder / path).write_bytes(raw)
        digests.append(digest_tree(folder, "a").digest)
    assert (digests[0] == digests[1]) == (one == other)


@pytest.mark.parametrize("target", ["../secret", "/etc/hostname", "../tree/notes.txt", "bin/../../tree/notes.txt"])
def test_link_that_leads_out_is_unfit(tree: Path, target: str) -> None:
    (tree / "out").symlink_to(target)
    with pytest.raises(UnfitEntry, match="`out` is a symbolic link that leads out"):
        digest_tree(tree, "a")


def test_link_that_leads_out_through_another_link_is_unfit(tree: Path) -> None:
    (tree / "a" / "b" / "c").mkdir(parents=True)
    (tree / "a" / "b" / "top").symlink_to("../../bin")
    (tree / "sly").symlink_to("a/b/top/../../secret")
    with pytest.raises(UnfitEntry, match="`sly` is a symbolic link that leads out"):
        digest_tree(tree, "a")


def test_link_that_leads_nowhere_inside_is_kept(tree: Path) -> None:
    (tree / "later").symlink_to("not/yet")
    assert "later" in digest_tree(copied(tree), "a").files


def test_named_pipe_is_unfit(tree: Path) -> None:
    os.mkfifo(tree / "bin" / "pipe")
    with pytest.raises(UnfitEntry, match="`bin/pipe` is a named pipe"):
        copied(tree)


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="macOS allows UTF-8 names only")
def test_name_that_is_not_utf8_is_kept_and_shown_escaped(tree: Path) -> None:
    (tree / os.fsdecode(b"caf\xe9")).write_text("x")
    assert "caf\\xe9" in digest_tree(copied(tree), "a").files


def test_read_only_folders_are_removed(tree: Path) -> None:
    (tree / "bin").chmod(0o555)
    tree.chmod(0o555)
    remove_tree(tree)
    assert not tree.exists()


def test_tree_deeper_than_the_stack_is_kept_and_removed(tree: Path) -> None:
    place = tree
    for _ in range(sys.getrecursionlimit() + 200):
        place /= "d"
        place.mkdir()
    (place / "bottom.txt").write_text("x")
    copy = copied(tree)
    assert len(digest_tree(copy, "a").files) == 4
    remove_tree(tree)
    remove_tree(copy)
    assert not tree.exists()
    assert not copy.exists()


def test_removing_what_is_gone_is_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "never")

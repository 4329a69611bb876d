import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepsnb.workspace import ArtifactTree, RunWorkspace
from stepsnb.workspace.sharing import copy_file, link_file

WAYS_TO_WRITE = {
    "append": "echo more >> notes/a.txt",
    "truncate": ": > notes/a.txt",
    "make writable": "chmod u+w notes/a.txt && echo other > notes/a.txt",
    "change permissions": "chmod 777 notes/a.txt",
    "rename over": "echo other > b.txt && mv b.txt notes/a.txt",
    "rename away": "mv notes/a.txt c.txt && echo more >> c.txt",
    "write in place": "printf X | dd of=notes/a.txt bs=1 seek=0 conv=notrunc 2>/dev/null",
    "link and write": "ln notes/a.txt d.txt && echo more >> d.txt",
    "change times": "touch -d 2001-01-01 notes/a.txt",
    "remove": "rm -r notes",
}
if shutil.which("rsync"):
    WAYS_TO_WRITE["rsync in place"] = "echo other > b.txt && rsync --inplace --checksum b.txt notes/a.txt"


@pytest.fixture(params=["here", "shared blocks"])
def place(request: pytest.FixtureRequest, tmp_path: Path, shared_blocks: Path | None) -> Path:
    """A folder on the machine's own file system, and one on a file system that shares blocks where there can be one."""
    return tmp_path if request.param == "here" or shared_blocks is None else shared_blocks


@pytest.fixture(scope="session")
def shared_blocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path | None]:
    """A mounted XFS, None where nobody may mount one."""
    base = tmp_path_factory.mktemp("xfs")
    if shutil.which("mkfs.xfs") is None or os.geteuid() != 0:
        yield None
        return
    with (base / "image").open("wb") as image:
        image.truncate(1 << 30)
    (base / "mounted").mkdir()
    made = subprocess.run(["mkfs.xfs", "-q", "-m", "reflink=1", str(base / "image")], capture_output=True)
    mounted = subprocess.run(["mount", "-o", "loop", base / "image", base / "mounted"], capture_output=True)
    if made.returncode or mounted.returncode:
        yield None
        return
    yield base / "mounted"
    subprocess.run(["umount", "--lazy", base / "mounted"], check=True)


def tree_of(workspace: RunWorkspace, files: dict[str, bytes]) -> ArtifactTree:
    def fill(folder: Path) -> None:
        for name, content in files.items():
            (folder / name).write_bytes(content)

    return workspace.add_tree("notes", fill)


@pytest.mark.parametrize("way", WAYS_TO_WRITE)
@pytest.mark.parametrize("outputs", [[], ["notes"]])
def test_step_that_writes_to_its_input_never_changes_the_store(place: Path, way: str, outputs: list[str]) -> None:
    workspace = RunWorkspace(place / f"store-{os.urandom(4).hex()}", "r")
    tree = tree_of(workspace, {"a.txt": b"original\n"})
    before = (tree.path / "a.txt").lstat()
    step = workspace.open_step("1", {"notes": tree}, outputs)
    subprocess.run(["sh", "-ec", WAYS_TO_WRITE[way]], cwd=step.path, check=True)
    after = (tree.path / "a.txt").lstat()
    assert (tree.path / "a.txt").read_bytes() == b"original\n"
    assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (before.st_mode, before.st_mtime_ns, 1)
    workspace.close()


def test_large_input_takes_no_room_where_blocks_can_be_shared(place: Path) -> None:
    """The system's own `cp --reflink=always` tells whether they can."""
    size = 200 * 1024 * 1024
    workspace = RunWorkspace(place / "store-large", "r")
    tree = tree_of(workspace, {"large.bin": b"x" * size})
    probe = ["cp", "--reflink=always", tree.path / "large.bin", place / "probe"]
    can_share = subprocess.run(probe, capture_output=True).returncode == 0
    (place / "probe").unlink(missing_ok=True)
    os.sync()
    before = shutil.disk_usage(place).used
    step = workspace.open_step("1", {"notes": tree}, ["notes"])
    kept = workspace.capture(step, "notes")
    os.sync()
    taken = shutil.disk_usage(place).used - before
    assert kept.digest == tree.digest
    assert (step.path / "notes" / "large.bin").stat().st_size == size
    if can_share:
        assert taken < size // 20
    workspace.close()
    shutil.rmtree(workspace.root)


def test_step_that_only_reads_gets_the_stores_own_files(workspace: RunWorkspace, make_tree) -> None:
    tree = make_tree("notes", {"d/a.txt": "a"})
    step = workspace.open_step("1", {"notes": tree}, [], only_reads=True)
    assert (step.path / "notes" / "d" / "a.txt").samefile(tree.path / "d" / "a.txt")
    assert not (step.path / "notes" / "d").samefile(tree.path / "d")


def test_input_that_is_an_output_is_never_the_stores_own(workspace: RunWorkspace, make_tree) -> None:
    tree = make_tree("notes", {"a.txt": "a"})
    step = workspace.open_step("1", {"notes": tree}, ["notes"], only_reads=True)
    assert not (step.path / "notes" / "a.txt").samefile(tree.path / "a.txt")


def test_removing_the_directory_of_a_step_that_only_reads_leaves_the_store(workspace: RunWorkspace, make_tree) -> None:
    tree = make_tree("notes", {"a.txt": "a"})
    (tree.path / "a.txt").chmod(0o604)
    step = workspace.open_step("1", {"notes": tree}, [], only_reads=True)
    (step.path / "notes").chmod(0o500)
    workspace.close()
    assert not step.path.exists()
    assert (tree.path / "a.txt").read_text() == "a"
    assert stat.S_IMODE((tree.path / "a.txt").stat().st_mode) == 0o604


def test_link_that_cannot_be_made_is_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a").write_text("a")
    link_file(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "a"
    assert not (tmp_path / "b").samefile(tmp_path / "a")


def test_copy_keeps_times_and_permissions_and_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    os.utime(tmp_path / "a", ns=(1_000_000_000, 2_000_000_000))
    (tmp_path / "a").chmod(0o455)
    copy_file(tmp_path / "a", tmp_path / "b")
    status = (tmp_path / "b").stat()
    assert (status.st_mtime_ns, stat.S_IMODE(status.st_mode)) == (2_000_000_000, 0o655)


def test_copy_never_follows_or_replaces_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "there").write_text("kept")
    (tmp_path / "link").symlink_to("there")
    for target in ("there", "link"):
        with pytest.raises(FileExistsError):
            copy_file(tmp_path / "a", tmp_path / target)
    with pytest.raises(OSError, match="symbolic links"):
        copy_file(tmp_path / "link", tmp_path / "b")
    assert (tmp_path / "there").read_text() == "kept"

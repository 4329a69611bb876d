import fcntl
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stepsnb.errors import WorkspaceError
from stepsnb.settings import SPILL_DIR
from stepsnb.workspace import RunWorkspace, remove_tree


def test_step_gets_copies_of_its_inputs_and_empty_outputs(workspace: RunWorkspace, make_tree) -> None:
    step = workspace.open_step("1-write", {"notes": make_tree("notes", {"a/b.txt": "b"})}, ["report"])
    assert (step.path / "notes" / "a" / "b.txt").read_text() == "b"
    assert list((step.path / "report").iterdir()) == []
    assert sorted(p.name for p in step.path.iterdir()) == ["notes", "report"]


def test_changing_an_input_does_not_change_the_artifact(workspace: RunWorkspace, make_tree) -> None:
    tree = make_tree("notes", {"a.txt": "a"})
    step = workspace.open_step("1", {"notes": tree}, [])
    (step.path / "notes" / "a.txt").write_text("changed")
    assert (tree.path / "a.txt").read_text() == "a"


def test_name_in_inputs_and_outputs_is_read_modify_write(workspace: RunWorkspace, make_tree) -> None:
    step = workspace.open_step("1", {"notes": make_tree("notes", {"a.txt": "a"})}, ["notes"])
    (step.path / "notes" / "b.txt").write_text("b")
    assert workspace.capture(step, "notes").files == ("a.txt", "b.txt")


def test_artifact_is_named_by_its_content(workspace: RunWorkspace, make_tree) -> None:
    tree = make_tree("notes", {"a.txt": "a"})
    assert tree.path == workspace.root / "artifacts" / tree.digest
    assert workspace.relative(tree.path) == f"artifacts/{tree.digest}"


def test_same_content_is_kept_once(workspace: RunWorkspace, make_tree) -> None:
    assert make_tree("one", {"a.txt": "a"}).path == make_tree("two", {"a.txt": "a"}).path
    assert len(list((workspace.root / "artifacts").iterdir())) == 1


def test_empty_output_is_an_artifact(workspace: RunWorkspace) -> None:
    step = workspace.open_step("1", {}, ["one", "two"])
    assert workspace.capture(step, "one").files == ()
    assert workspace.capture(step, "two").files == ()


def test_failed_fill_leaves_no_artifact(workspace: RunWorkspace) -> None:
    def fill(folder: Path) -> None:
        (folder / "half.txt").write_text("half")
        raise WorkspaceError("broken")

    with pytest.raises(WorkspaceError, match="broken"):
        workspace.add_tree("notes", fill)
    assert not (workspace.root / "artifacts").exists()
    assert list(workspace.root.rglob("half.txt")) == []


def test_killed_fill_leaves_no_artifact(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from stepsnb.workspace import RunWorkspace, remove_tree
def fill(folder):
    (folder / "half.txt").write_text("half")
    os.kill(os.getpid(), 9)
RunWorkspace(Path("store"), "r").add_tree("notes", fill)
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, timeout=30)
    assert list((tmp_path / "store").glob("artifacts/*")) == []


def test_spilled_tool_output_is_not_part_of_an_output(workspace: RunWorkspace) -> None:
    step = workspace.open_step("1", {}, ["report"])
    (step.path / "report" / SPILL_DIR).mkdir()
    (step.path / "report" / SPILL_DIR / "call.txt").write_text("long")
    (step.path / "report" / "a.md").write_text("a")
    assert workspace.capture(step, "report").files == ("a.md",)


def test_output_that_is_gone_is_named(workspace: RunWorkspace) -> None:
    step = workspace.open_step("1", {}, ["report"])
    (step.path / "report").rmdir()
    with pytest.raises(WorkspaceError) as caught:
        workspace.capture(step, "report")
    assert str(caught.value) == "output `report`: its folder is gone; a step leaves what it makes in `report/`"


def test_output_that_became_a_file_is_named(workspace: RunWorkspace) -> None:
    step = workspace.open_step("1", {}, ["report"])
    (step.path / "report").rmdir()
    (step.path / "report").write_text("x")
    with pytest.raises(WorkspaceError, match="output `report`: it became a file"):
        workspace.capture(step, "report")


def test_output_that_became_a_link_is_refused(workspace: RunWorkspace, tmp_path: Path) -> None:
    step = workspace.open_step("1", {}, ["report"])
    (step.path / "report").rmdir()
    (step.path / "report").symlink_to(tmp_path)
    with pytest.raises(WorkspaceError, match="output `report`: it became a symbolic link"):
        workspace.capture(step, "report")


def test_output_with_a_link_out_is_refused(workspace: RunWorkspace) -> None:
    step = workspace.open_step("1", {}, ["report"])
    (step.path / "report" / "host").symlink_to("/etc/hostname")
    with pytest.raises(WorkspaceError) as caught:
        workspace.capture(step, "report")
    assert str(caught.value) == (
        "output `report`: `host` is a symbolic link that leads out, which an artifact cannot hold; "
        "let the step remove or copy it"
    )


def test_output_with_a_socket_is_refused() -> None:
    with TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:  # a socket's path must be short
        workspace = RunWorkspace(Path(short), "r")
        step = workspace.open_step("1", {}, ["o"])
        server.bind(str(step.path / "o" / "s"))
        with pytest.raises(WorkspaceError, match="output `o`: `s` is a socket, which an artifact cannot hold"):
            workspace.capture(step, "o")
        workspace.close()


def test_input_that_is_gone_from_the_store_is_named(workspace: RunWorkspace, make_tree) -> None:
    tree = make_tree("notes", {"a.txt": "a"})
    (tree.path / "a.txt").unlink()
    tree.path.rmdir()
    with pytest.raises(WorkspaceError) as caught:
        workspace.open_step("1", {"notes": tree}, [])
    assert str(caught.value) == ("input `notes`: its artifact is gone from the store; run the step that makes it again")


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\0b"])
def test_artifact_name_that_is_no_single_part_is_refused(workspace: RunWorkspace, name: str) -> None:
    with pytest.raises(WorkspaceError, match="an artifact's name is one part of a path"):
        workspace.open_step("1", {}, [name])


def test_full_disk_is_said_with_what_to_do(workspace: RunWorkspace) -> None:
    def fill(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    step = workspace.open_step("1", {}, ["report"])
    workspace.add_tree = lambda name, _: RunWorkspace.add_tree(workspace, name, fill)
    with pytest.raises(WorkspaceError, match="output `report`: the disk is full; free some space"):
        workspace.capture(step, "report")


def test_store_that_cannot_be_made_is_a_workspace_error(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(WorkspaceError, match="working directory: not a directory"):
        RunWorkspace(tmp_path / "store", "r").open_step("1", {}, [])


def test_step_opened_again_gets_a_fresh_directory(workspace: RunWorkspace) -> None:
    first = workspace.open_step("1", {}, ["report"])
    (first.path / "report" / "a.md").write_text("a")
    again = workspace.open_step("1", {}, ["report"])
    assert again.path != first.path
    assert list((again.path / "report").iterdir()) == []


def test_any_step_id_makes_a_directory_inside(workspace: RunWorkspace) -> None:
    step = workspace.open_step("../../x [a=1 b=ø]", {}, [])
    assert step.path.parent == workspace.root / "work" / "run-1"


def test_close_removes_directories_and_keeps_artifacts(workspace: RunWorkspace) -> None:
    step = workspace.open_step("1", {}, ["report"])
    (step.path / "report" / "deep").mkdir()
    (step.path / "report" / "deep").chmod(0o555)
    tree = workspace.capture(step, "report")
    workspace.close()
    assert list((workspace.root / "work").iterdir()) == []
    assert tree.path.is_dir()


def test_workspace_that_was_closed_leaves_the_next_one_of_the_run_alone(workspace: RunWorkspace) -> None:
    workspace.open_step("1", {}, [])
    workspace.close()
    resumed = RunWorkspace(workspace.root, "run-1")
    step = resumed.open_step("1", {}, [])
    workspace.close()
    assert step.path.is_dir()
    resumed.close()


def test_store_given_relatively_is_not_lost_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workspace = RunWorkspace(Path("store"), "r")
    workspace.open_step("1", {}, [])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert workspace.open_step("2", {}, []).path.is_relative_to(tmp_path / "store")
    workspace.close()


def abandoned(store: Path) -> Path:
    folder = store / "work" / "old-run"
    (folder / "step").mkdir(parents=True)
    os.utime(folder, (1, 1))
    return folder


def test_directories_of_a_killed_process_go_with_the_next_run(tmp_path: Path) -> None:
    folder = abandoned(tmp_path)
    workspace = RunWorkspace(tmp_path, "new-run")
    workspace.open_step("1", {}, [])
    assert not folder.exists()
    workspace.close()


def test_directories_of_a_running_run_stay(tmp_path: Path) -> None:
    folder = abandoned(tmp_path)
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    workspace = RunWorkspace(tmp_path, "new-run")
    workspace.open_step("1", {}, [])
    os.close(held)
    assert folder.exists()
    workspace.close()


def test_fresh_directories_are_left_to_their_owner(tmp_path: Path) -> None:
    (tmp_path / "work" / "just-made").mkdir(parents=True)
    workspace = RunWorkspace(tmp_path, "new-run")
    workspace.open_step("1", {}, [])
    assert (tmp_path / "work" / "just-made").exists()
    workspace.close()


def test_steps_can_work_in_another_folder(tmp_path: Path, make_tree) -> None:
    tree = make_tree("notes", {"a.txt": "a"})
    (tmp_path / "fast" / "kept").mkdir(parents=True)
    os.utime(tmp_path / "fast" / "kept", (0, 0))
    workspace = RunWorkspace(tmp_path / "store", "run-2", work_root=tmp_path / "fast")
    step = workspace.open_step("1", {"notes": tree}, ["report"])
    (step.path / "report" / "b.txt").write_text("b")
    kept = workspace.capture(step, "report")
    assert step.path.is_relative_to(tmp_path / "fast")
    assert kept.path == tmp_path / "store" / "artifacts" / kept.digest
    workspace.close()
    assert (tmp_path / "fast" / "kept").exists()
    assert not step.path.exists()


def test_threads_may_open_steps_at_the_same_time(tmp_path: Path, make_tree) -> None:
    tree = make_tree("notes", {"a.txt": "a"})
    workspace = RunWorkspace(tmp_path / "store", "run-2")
    with ThreadPoolExecutor(8) as threads:
        steps = list(threads.map(lambda _: workspace.open_step("s", {"notes": tree}, []), range(40)))
    assert len({step.path for step in steps}) == 40
    assert all((step.path / "notes" / "a.txt").read_text() == "a" for step in steps)
    workspace.close()


def test_folder_for_a_new_tree_is_never_one_that_another_step_still_removes(workspace: RunWorkspace) -> None:
    first = workspace.begin_tree()
    (first / "a.txt").write_text("a")
    workspace.keep_tree("one", first)  # moves it away; whoever asked for it has yet to remove what may be left

    second = workspace.begin_tree()
    (second / "b.txt").write_text("b")
    remove_tree(first)

    assert workspace.keep_tree("two", second).files == ("b.txt",)

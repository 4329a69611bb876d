from pathlib import Path

import pytest

from stepsnb.errors import WorkspaceError
from stepsnb.workspace import run_shell


async def test_variables_are_added_to_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSNB_TEST_KEPT", "kept")
    script = 'echo "$STEPSNB_TEST_KEPT $GREETING"'
    done = await run_shell(script, cwd=tmp_path, env={"GREETING": "hei"}, max_output_bytes=1000)
    assert done.stdout == b"kept hei\n"


async def test_script_runs_in_its_folder(tmp_path: Path) -> None:
    await run_shell("echo x > made.txt", cwd=tmp_path, max_output_bytes=10)
    assert (tmp_path / "made.txt").read_text() == "x\n"


async def test_missing_folder_is_a_workspace_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot start the shell: No such file or directory"):
        await run_shell("true", cwd=tmp_path / "gone", max_output_bytes=10)


async def test_unusable_command_is_a_workspace_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot start the shell: the command is not usable text"):
        await run_shell("echo \0", cwd=tmp_path, max_output_bytes=10)

from pathlib import Path

import pytest

from stepsnb.workspace import RunWorkspace


@pytest.fixture
def workspace(tmp_path: Path):
    workspace = RunWorkspace(tmp_path / "store", "run-1")
    yield workspace
    workspace.close()


@pytest.fixture
def make_tree(workspace: RunWorkspace):
    """Make an artifact of the given texts by path."""

    def make(name: str, files: dict[str, str]):
        def fill(folder: Path) -> None:
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)

        return workspace.add_tree(name, fill)

    return make

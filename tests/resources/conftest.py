import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from stepsnb.workspace import RunWorkspace


@pytest.fixture
def workspace(tmp_path: Path):
    workspace = RunWorkspace(tmp_path / "store", "run-1")
    yield workspace
    workspace.close()


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run git in a folder as somebody, untouched by the machine's own configuration."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
        monkeypatch.setenv(f"GIT_{role}_DATE", "2026-01-01T00:00:00Z")

    def run(folder: Path, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return run


@pytest.fixture
def repository(tmp_path: Path, git) -> Path:
    """A repository with the commits `one`, `two` and `three` on `main`, each with a file of its name."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name in ("one", "two", "three"):
        commit(git, folder, name)
    return folder


def commit(git: Callable[..., str], folder: Path, name: str) -> str:
    (folder / f"{name}.txt").write_text(name)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", name)
    return git(folder, "rev-parse", "HEAD")

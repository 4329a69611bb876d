"""The real command in a process of its own, in an empty folder."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

COMMAND = str(Path(sys.executable).parent / "stepsnb")

Result = subprocess.CompletedProcess[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the command."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def stepsnb(folder: Path) -> Callable[..., Result]:
    """Run the command to its end; nobody is at its standard input."""

    def run(*args: str, env: Mapping[str, str] | None = None) -> Result:
        return subprocess.run(
            [COMMAND, *args],
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture
def write(folder: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = folder / name
        path.write_text(text)
        return path

    return write


def value_of(result: Result) -> Any:
    """Return the one JSON value on standard output."""
    return json.loads(result.stdout)


HELLO = """\
jobs:
- name: hello
  plan:
  - task: greet
    run: echo hello from the task
"""

FAILING = """\
jobs:
- name: broken
  plan:
  - task: check
    run: echo looked and found nothing; exit 3
"""

ASKING = """\
agents:
- name: clerk
  source: { model: scripted/clerk.yml }
  tools:
  - builtin: ask_user
jobs:
- name: ship
  plan:
  - agent: clerk
    messages: ["Ask which port, then name it."]
"""

CLERK = """\
version: 1
replies:
- calls:
  - { name: ask_user, arguments: { question: "Which port?", options: [Tromso, Bergen] } }
- text: "Noted."
"""


@pytest.fixture
def asking(write: Callable[[str, str], Path]) -> Callable[..., Path]:
    """A pipeline whose agent asks which port; `grant` adds lines to its `ask_user`."""

    def build(grant: str = "") -> Path:
        write("clerk.yml", CLERK)
        extra = "".join(f"    {line}\n" for line in grant.splitlines())
        return write("ship.yml", ASKING.replace("  - builtin: ask_user\n", f"  - builtin: ask_user\n{extra}"))

    return build

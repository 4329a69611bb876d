"""A key that is missing, typed at a hidden prompt before the run, through a real kernel."""

from pathlib import Path

import pytest

from tests.wire.conftest import words

from .kernel import Kernel

_CELL = """\
%%steps --as r
agents:
- name: clerk
  source: {{ model: m1, endpoint: "{endpoint}", api_key_env: PORT_KEY }}
  context_window: 100000
jobs:
- name: file_it
  plan:
  - {{ agent: clerk, prompt: Go. }}
"""
KEY = "sk-typed-4711-secret"


def run(kernel: Kernel, endpoint: str, answers: list[str]) -> tuple[object, list[str]]:
    """Run the cell before somebody who types `answers`; return its error and the prompts that were put."""
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return answers.pop(0)

    executed = kernel.finish(kernel.start(_CELL.format(endpoint=endpoint), allow_stdin=True), answer=answer)
    return executed.error, prompts


def test_a_typed_key_is_used_kept_for_later_runs_and_recorded_nowhere(
    kernel: Kernel, wire_server, tmp_path: Path
) -> None:
    for _ in range(2):
        wire_server.streams(*words(f"Filed under {KEY}."))

    error, prompts = run(kernel, wire_server.base_url, [KEY])
    assert error is None
    assert prompts == ["PORT_KEY, for agent clerk; kept in this kernel's memory only: "]
    assert wire_server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert run(kernel, wire_server.base_url, []) == (None, [])

    assert KEY not in kernel.value("r.to_text()")
    assert kernel.value("'PORT_KEY' in __import__('os').environ") == "False"
    stored = b"".join(path.read_bytes() for path in (tmp_path / ".steps").rglob("*") if path.is_file())
    assert KEY.encode() not in stored


def test_nothing_typed_is_the_error_of_before_and_asked_once(kernel: Kernel, wire_server) -> None:
    error, prompts = run(kernel, wire_server.base_url, [""])
    assert len(prompts) == 1
    assert "PORT_KEY is not set" in str(error)

    error, prompts = run(kernel, wire_server.base_url, [])
    assert prompts == []
    assert "PORT_KEY is not set" in str(error)


def test_a_key_in_the_file_beside_the_notebook_is_not_asked_for(kernel: Kernel, wire_server, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"PORT_KEY={KEY}\n")
    wire_server.streams(*words("Filed."))

    assert run(kernel, wire_server.base_url, []) == (None, [])
    assert wire_server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("cell", ["%%steps --replay tape.json\n"])
def test_a_replay_needs_none(kernel: Kernel, wire_server, cell: str) -> None:
    executed = kernel.finish(
        kernel.start(_CELL.format(endpoint=wire_server.base_url).replace("%%steps --as r\n", cell), allow_stdin=True),
        answer=lambda prompt: pytest.fail(f"asked: {prompt}"),
    )

    assert executed.error is not None  # there is no such tape

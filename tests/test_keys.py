"""Where keys are looked for."""

import os
from pathlib import Path

import pytest

from stepsnb.keys import find_key, keep_key


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stepsnb.keys._typed", {})
    monkeypatch.delenv("PORT_KEY", raising=False)


def test_a_key_nobody_set_is_empty() -> None:
    assert find_key("PORT_KEY") == ""


def test_the_file_beside_the_notebook_holds_keys(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text('# mine\nexport PORT_KEY="k 1$HOME"  # comment\nOTHER=x\nEMPTY\n')

    assert find_key("PORT_KEY") == "k 1$HOME"
    assert find_key("EMPTY") == ""


def test_what_was_typed_beats_the_file_and_the_environment_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("PORT_KEY=from-file\n")
    keep_key("PORT_KEY", "typed")
    assert find_key("PORT_KEY") == "typed"

    monkeypatch.setenv("PORT_KEY", "set\n")
    assert find_key("PORT_KEY") == "set"


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT_KEY=one\n")
    assert find_key("PORT_KEY") == "one"

    (tmp_path / ".env").write_text("PORT_KEY=another\n")

    assert find_key("PORT_KEY") == "another"


def test_a_folder_of_that_name_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()

    assert find_key("PORT_KEY") == ""


def test_a_pipe_of_that_name_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env")

    assert find_key("PORT_KEY") == ""


def test_a_line_that_is_no_utf_8_leaves_the_others_alone(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"NAME=J\xf8rgen\nPORT_KEY=k1\n")

    assert find_key("PORT_KEY") == "k1"

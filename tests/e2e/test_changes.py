"""What steps changed in their artifacts."""

from pathlib import Path

import pytest

import stepsnb
from stepsnb.errors import InputError

_PIPELINE = r"""
jobs:
- name: j
  plan:
  - task: write
    outputs: [repo]
    run: |
      printf 'one\ntwo\n' > repo/a.txt
      printf '\000\001' > repo/b.bin
      printf 'gone\n' > repo/c.txt
  - task: edit
    inputs: [repo]
    outputs: [repo]
    run: |
      printf 'one\n<b>2\033[31m</b>\n' > repo/a.txt
      printf '\000\002' > repo/b.bin
      rm repo/c.txt
      printf 'new\n' > repo/d.txt
  - task: look
    inputs: [repo]
    run: ls repo
"""


@pytest.fixture
def run(tmp_path: Path) -> stepsnb.Run:
    """A run of three steps, of which the second edits what the first wrote."""
    run = stepsnb.load(_PIPELINE).run(store=tmp_path / "store")
    assert run.outcome == "succeeded", run.error
    return run


def test_a_step_shows_what_it_added_changed_and_removed(run: stepsnb.Run) -> None:
    changes = run.changes("edit")

    assert [(change.path, change.kind) for change in changes] == [
        ("repo/a.txt", "changed"),
        ("repo/b.bin", "changed"),
        ("repo/c.txt", "removed"),
        ("repo/d.txt", "added"),
    ]
    assert changes[0].diff == ("--- a/repo/a.txt\n+++ b/repo/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+<b>2\x1b[31m</b>")
    assert changes[1].diff is None


def test_it_is_shown_as_text(run: stepsnb.Run) -> None:
    changes = run.changes()

    assert "\x1b" not in repr(changes)
    assert "+<b>2␛[31m</b>" in repr(changes)
    assert "changed: repo/b.bin (no text to compare)" in repr(changes)
    assert "&lt;b&gt;2" in changes._repr_html_()
    assert "<b>" not in changes._repr_html_()


def test_a_step_without_outputs_changed_nothing(run: stepsnb.Run) -> None:
    assert repr(run.changes("look")) == "nothing was changed"


def test_a_stored_run_shows_the_same(run: stepsnb.Run, tmp_path: Path) -> None:
    assert stepsnb.show(run.run_id, store=tmp_path / "store").changes().text == run.changes().text


def test_an_unknown_step_is_told(run: stepsnb.Run) -> None:
    with pytest.raises(InputError, match=r"unknown step `edti` \(did you mean `edit`\?\)"):
        run.changes("edti")

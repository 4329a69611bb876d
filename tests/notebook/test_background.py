"""Runs that go on while the notebook does, through a real kernel."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .kernel import Kernel, running_kernel

_SLOW = "jobs:\n- name: slow\n  plan:\n  - {task: wait, run: 'until test -f GO; do sleep 0.05; done; echo done'}\n"
_ASKS = "jobs:\n- name: ask\n  plan:\n  - {approval: {message: Go?}}\n"


def _slow(folder: Path) -> str:
    """A job that ends once there is a file `go` in the folder."""
    return _SLOW.replace("GO", str(folder / "go"))


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    """A kernel with the extension, beside two pipelines."""
    (tmp_path / "slow.yml").write_text(_slow(tmp_path))
    (tmp_path / "ask.yml").write_text(_ASKS)
    with running_kernel(tmp_path) as kernel:
        assert kernel.run("%load_ext stepsnb").error is None
        yield kernel


def test_a_handle_comes_back_at_once_and_the_run_goes_on(kernel: Kernel, tmp_path: Path) -> None:
    kernel.run("%steps load slow.yml")

    handle = kernel.run("handle = %steps run --background\nhandle")
    assert ": under way>" in handle.result
    assert kernel.run("1 + 1").result == "2"
    (tmp_path / "go").touch()

    assert kernel.run("(await handle).text").result == r"'done\n'"
    assert ": ended>" in kernel.run("handle").result


def test_the_handle_is_kept_under_a_name(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "go").touch()

    kernel.run(f"%%steps --background --as kept\n{_slow(tmp_path)}")

    assert kernel.run("kept.result().outcome.value").result == "'succeeded'"


def test_a_run_in_the_background_is_stopped_by_its_handle(kernel: Kernel) -> None:
    kernel.run("%steps load slow.yml")
    kernel.run("handle = %steps run --background")

    assert kernel.run("handle.cancel(); handle.result().outcome.value").result == "'aborted'"


def test_its_question_waits_for_an_answer_from_another_cell(kernel: Kernel) -> None:
    kernel.finish(kernel.start("%steps load ask.yml", allow_stdin=True))
    kernel.finish(kernel.start("handle = %steps run --background", allow_stdin=True))
    wait = "import time, stepsnb\nwhile stepsnb.approvals().empty: time.sleep(0.05)\nid = stepsnb.approvals()['id'][0]"
    assert kernel.run(wait).error is None

    assert kernel.run("stepsnb.approve(id); handle.result().outcome.value").result == "'succeeded'"


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%%steps --background\n- {task: t, run: 'true'}", "a list of steps goes on in the open run"),
        ("%%agent nobody --vary model=a,b --background\nHi", "leave `--background` out"),
    ],
)
def test_what_cannot_go_on_in_the_background_says_why(kernel: Kernel, cell: str, says: str) -> None:
    kernel.run("%steps load slow.yml")

    error = kernel.run(cell).error

    assert error is not None
    assert says in error[1]

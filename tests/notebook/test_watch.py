"""`%steps watch`: a cell that runs jobs whenever there is something new, until an interrupt."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from stepsnb.errors import InputError

from .kernel import Executed, Kernel
from .test_cell import is_alive, outcomes, wait_for_file
from .test_completer import offered

PIPELINE = """
resources: [{name: notes, type: path, source: {path: notes}}]
jobs:
- name: build
  plan:
  - {get: notes, trigger: true}
  - {task: count, inputs: [notes], run: "cat notes/*; test ! -e notes/bad"}
- name: by_hand
  plan: [{task: t, run: echo}]
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "p.yml").write_text(PIPELINE)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("one\n")
    return tmp_path / "notes"


def wait_until(holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
    give_up_at = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def count_runs(notes: Path) -> int:
    return len(list((notes.parent / ".steps").glob("artifacts/*")))


def shown(executed: Executed) -> str:
    return "\n".join(data["text/plain"] for data in executed.displays)


def test_checking_once_runs_what_is_new_and_ends(kernel: Kernel, notes: Path) -> None:
    kernel.run("%steps load p.yml")

    first = kernel.run("%steps watch --once")
    second = kernel.run("%steps watch build --once")

    assert (first.error, second.error) == (None, None)
    assert "watching for `build` · 0 runs" in shown(first)
    assert "watching for `build` · 1 run · checked once" in shown(first)
    assert "build succeeded" in shown(first)
    assert "succeeded" not in shown(second)


@pytest.mark.parametrize("form", ["%steps watch --interval 200ms", "%time %steps watch --interval 200ms"])
def test_each_new_version_is_run_and_shown_until_an_interrupt(kernel: Kernel, notes: Path, form: str) -> None:
    kernel.run("%steps load p.yml")
    request = kernel.start(form)
    wait_until(lambda: count_runs(notes) == 1)
    (notes / "a.txt").write_text("two\n")
    wait_until(lambda: count_runs(notes) == 2)
    time.sleep(0.5)

    kernel.manager.interrupt_kernel()
    executed = kernel.finish(request)

    assert executed.error is not None
    assert executed.error[1] == "watching was ended by an interrupt, after 2 runs"
    assert "2 runs · ended by an interrupt" in shown(executed)
    assert executed.kinds.count("clear_output") == 1
    assert kernel.value("1 + 1") == "2"


@pytest.mark.parametrize("form", ["%steps watch --interval 10m", "%time %steps watch --interval 10m"])
def test_an_interrupt_between_two_checks_gives_the_prompt_back(kernel: Kernel, notes: Path, form: str) -> None:
    kernel.run("%steps load p.yml")
    request = kernel.start(form)
    wait_until(lambda: count_runs(notes) == 1)
    time.sleep(1.0)

    kernel.manager.interrupt_kernel()
    executed = kernel.finish(request, timeout_s=3.0)

    assert executed.error == ("Interrupted", "watching was ended by an interrupt, after 1 run")


def test_an_interrupt_stops_the_run_that_is_under_way_and_its_processes(kernel: Kernel, notes: Path) -> None:
    text = PIPELINE.replace("cat notes/*;", f"echo $$ > {notes.parent}/pid; sleep 60;")
    (notes.parent / "p.yml").write_text(text)
    kernel.run("%steps load p.yml")
    request = kernel.start("%steps watch")
    pid = int(wait_for_file(notes.parent / "pid"))

    kernel.manager.interrupt_kernel()
    executed = kernel.finish(request)

    assert executed.error == ("Interrupted", "watching was ended by an interrupt, after 1 run")
    assert not is_alive(pid)
    assert outcomes(kernel) == "['aborted']"


def test_a_run_that_fails_is_shown_and_the_watch_goes_on(kernel: Kernel, notes: Path) -> None:
    (notes / "bad").write_text("x\n")
    kernel.run("%steps load p.yml")
    request = kernel.start("%steps watch --interval 200ms")
    wait_until(lambda: count_runs(notes) == 1)
    (notes / "bad").unlink()
    wait_until(lambda: count_runs(notes) == 2)
    time.sleep(0.5)

    kernel.manager.interrupt_kernel()
    executed = kernel.finish(request)

    last = [data["text/plain"] for data in executed.displays if data["text/plain"].startswith("watching")][-1]
    assert [line.split("  ")[2] for line in last.splitlines()[1:]] == ["succeeded", "failed"]


def test_a_check_that_goes_wrong_is_told(kernel: Kernel, notes: Path) -> None:
    (notes / "a.txt").unlink()
    notes.rmdir()
    kernel.run("%steps load p.yml")

    executed = kernel.run("%steps watch --once")

    assert executed.error is None
    assert "job `build`: " in shown(executed)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("watch buidl", "unknown job `buidl` (did you mean `build`?)"),
        ("watch by_hand", "nothing to watch; write `trigger: true` in the `get` steps that jobs wait for"),
        ("watch --interval soon", "--interval `soon`: write it like `30s`, `5m` or `1h`"),
    ],
)
def test_what_cannot_be_watched_is_refused(shell: InteractiveShell, notes: Path, line: str, message: str) -> None:
    shell.run_line_magic("steps", "load p.yml")

    with pytest.raises(InputError) as refused:
        shell.run_line_magic("steps", line)

    assert message in str(refused.value)


def test_a_run_that_is_kept_nowhere_cannot_be_watched(shell: InteractiveShell, notes: Path) -> None:
    shell.run_line_magic("steps", "load p.yml --memory")

    with pytest.raises(InputError, match="keeps its runs in the store"):
        shell.run_line_magic("steps", "watch --once")


def test_jobs_are_offered(shell: InteractiveShell, notes: Path) -> None:
    shell.run_line_magic("steps", "load p.yml")

    assert offered(shell, "%steps watch b") == ["build", "by_hand"]

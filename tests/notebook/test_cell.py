"""A run in a real kernel whose front end has no widgets: shown once, stopped, interrupted, asked at the prompt."""

import os
import time
from pathlib import Path

import pytest

from . import pipelines
from .kernel import Executed, Kernel

AWAITED = "%%steps\n{}"
TWIN = "get_ipython().run_cell_magic('steps', '', {!r})"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    pipelines.write_files(tmp_path)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").is_dir() else True


def wait_for_file(path: Path, timeout_s: float = 20.0) -> str:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if path.is_file() and (text := path.read_text().strip()):
            return text
        time.sleep(0.02)
    raise TimeoutError(f"{path} did not appear")


def outcomes(kernel: Kernel) -> str:
    return kernel.value("list(__import__('stepsnb').runs()['outcome'])")


def assert_shows_one_result(executed: Executed) -> None:
    assert executed.kinds.count("display_data") == 1
    assert "update_display_data" not in executed.kinds
    assert "execute_result" not in executed.kinds
    assert sorted(executed.displays[0]) == ["text/html", "text/plain"]


@pytest.mark.parametrize(
    "cell",
    [
        AWAITED.format(pipelines.HELLO),
        TWIN.format(pipelines.HELLO),
        f"%%time\nr = get_ipython().run_cell_magic('steps', '', {pipelines.HELLO!r})",
        f"def f():\n    return get_ipython().run_cell_magic('steps', '', {pipelines.HELLO!r})\nf()",
    ],
    ids=["awaited", "twin", "time", "function"],
)
def test_a_headless_cell_shows_one_static_result_and_no_value(kernel: Kernel, cell: str) -> None:
    executed = kernel.run(cell)

    assert executed.error is None
    assert_shows_one_result(executed)
    assert "Tides rise and fall with the moon." in executed.displays[0]["text/plain"]


def test_the_result_is_kept_under_a_name(kernel: Kernel) -> None:
    kernel.run("kept << %%steps\n" + pipelines.HELLO)
    kernel.run("%%steps --as also\n" + pipelines.HELLO)

    assert kernel.value("kept.text, also.outcome.value") == "('Tides rise and fall with the moon.', 'succeeded')"
    assert kernel.value("_ is not None and kept.run_id != also.run_id") == "True"


def test_a_kept_run_is_displayed_in_a_later_cell(kernel: Kernel) -> None:
    kernel.run("kept << %%steps\n" + pipelines.HELLO)

    later = kernel.run("kept")

    assert later.kinds == ["execute_result"]
    assert "Tides rise" in later.displays[0]["text/html"]


@pytest.mark.parametrize(
    "code", ["await stepsnb.load({!r}).start()", "stepsnb.load({!r}).run()"], ids=["awaited", "blocking"]
)
def test_an_interrupt_stops_a_run_that_python_code_waits_for(kernel: Kernel, tmp_path: Path, code: str) -> None:
    request = kernel.start("import stepsnb\n" + code.format(pipelines.AGENT_SLEEPS))
    pid = int(wait_for_file(tmp_path / "pid"))

    began = time.monotonic()
    kernel.manager.interrupt_kernel()
    executed = kernel.finish(request)

    assert time.monotonic() - began < 3
    assert executed.error is not None
    assert not is_alive(pid)


@pytest.mark.parametrize("form", [AWAITED, TWIN], ids=["awaited", "twin"])
def test_an_interrupt_stops_the_run_and_gives_the_prompt_back(kernel: Kernel, tmp_path: Path, form: str) -> None:
    request = kernel.start(form.format(pipelines.AGENT_SLEEPS))
    pid = int(wait_for_file(tmp_path / "pid"))

    began = time.monotonic()
    kernel.manager.interrupt_kernel()
    executed = kernel.finish(request)

    assert time.monotonic() - began < 3
    assert executed.error == ("Interrupted", "job `slow` was stopped by an interrupt")
    assert executed.traceback == ["Interrupted: job `slow` was stopped by an interrupt"]
    assert_shows_one_result_and_error(executed)
    assert not is_alive(pid)
    assert kernel.value("1 + 1") == "2"
    assert outcomes(kernel) == "['aborted']"
    assert kernel.run(AWAITED.format(pipelines.HELLO)).error is None


def assert_shows_one_result_and_error(executed: Executed) -> None:
    assert executed.kinds.count("display_data") == 1
    assert executed.kinds.count("error") == 1


@pytest.mark.parametrize("form", [AWAITED, TWIN], ids=["awaited", "twin"])
def test_a_second_interrupt_changes_nothing(kernel: Kernel, tmp_path: Path, form: str) -> None:
    request = kernel.start(form.format(pipelines.AGENT_SLEEPS))
    pid = int(wait_for_file(tmp_path / "pid"))

    kernel.manager.interrupt_kernel()
    time.sleep(0.05)
    kernel.manager.interrupt_kernel()
    kernel.finish(request)

    assert not is_alive(pid)
    assert kernel.run(AWAITED.format(pipelines.HELLO)).error is None
    assert outcomes(kernel) == "['succeeded', 'aborted']"


@pytest.mark.parametrize("form", [AWAITED, TWIN], ids=["awaited", "twin"])
def test_closing_the_kernel_stops_the_run(kernel: Kernel, tmp_path: Path, form: str) -> None:
    import stepsnb

    kernel.start(form.format(pipelines.AGENT_SLEEPS))
    pid = int(wait_for_file(tmp_path / "pid"))

    kernel.manager.shutdown_kernel()

    assert not is_alive(pid)
    assert list(stepsnb.runs(store=tmp_path / ".steps")["outcome"]) == ["aborted"]


def test_no_thread_of_a_run_is_left(kernel: Kernel) -> None:
    names = "sorted(t.name for t in __import__('threading').enumerate())"
    kernel.run(AWAITED.format(pipelines.HELLO))
    before = kernel.value(names)

    kernel.run(AWAITED.format(pipelines.HELLO))

    assert kernel.value(names) == before


def test_without_widgets_the_prompt_asks(kernel: Kernel) -> None:
    prompts: list[str] = []

    request = kernel.start("r << %%steps\n" + pipelines.ASK, allow_stdin=True)
    executed = kernel.finish(request, answer=lambda prompt: prompts.append(prompt) or "2")

    assert executed.error is None
    assert prompts == ["writer asks: Which port? [1 A, 2 B] "]
    assert (
        kernel.value("__import__('stepsnb').questions()[['answer', 'source']].values.tolist()") == "[['B', 'prompt']]"
    )


@pytest.mark.parametrize("form", [AWAITED, TWIN], ids=["awaited", "twin"])
def test_an_interrupt_at_the_prompt_stops_the_run(kernel: Kernel, form: str) -> None:
    request = kernel.start(form.format(pipelines.ASK), allow_stdin=True)

    def interrupt(_: str) -> None:
        kernel.manager.interrupt_kernel()

    executed = kernel.finish(request, answer=interrupt)

    assert executed.error is not None
    assert executed.error[0] == "Interrupted"
    assert outcomes(kernel) == "['aborted']"


def test_a_run_that_did_not_succeed_is_shown_and_then_raised_in_one_line(kernel: Kernel) -> None:
    executed = kernel.run("%%steps\njobs:\n- name: red\n  plan:\n  - task: no\n    run: exit 3\n")

    assert executed.kinds == ["display_data", "error"]
    assert executed.traceback == ["StepsError: job `red`: step `no` failed: the command ended with exit code 3"]


def test_a_failed_run_is_kept_too(kernel: Kernel) -> None:
    kernel.run("r << %%steps\njobs:\n- name: red\n  plan:\n  - task: no\n    run: exit 3\n")

    assert kernel.value("r.outcome.value") == "'failed'"

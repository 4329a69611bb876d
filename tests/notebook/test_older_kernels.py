"""What people do in a notebook, on each supported generation of ipykernel."""

import time
from collections.abc import Iterator
from pathlib import Path

import ipykernel
import pytest

from tests.support.older_kernels import OLDER_KERNELS, environment_of

from . import pipelines
from .kernel import Kernel, running_kernel

VERSIONS = (*OLDER_KERNELS, ipykernel.__version__)


@pytest.fixture(scope="module", params=VERSIONS)
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel of that version with the extension, beside the pipelines."""
    folder = tmp_path_factory.mktemp("work")
    pipelines.write_files(folder)
    with running_kernel(folder, **environment_of(request.param)) as kernel:
        assert kernel.value("__import__('ipykernel').__version__") == repr(request.param)
        assert kernel.run("%load_ext stepsnb").error is None
        yield kernel


def completions(kernel: Kernel, code: str) -> list[str]:
    reply = kernel.client.complete(code, len(code), reply=True, timeout=30)["content"]
    return [code[: reply["cursor_start"]] + match for match in reply["matches"]]


def test_help_is_one_screen(kernel: Kernel) -> None:
    printed = kernel.run("%steps help").printed

    assert "%%steps" in printed
    assert "%steps resume" in printed


def test_verbs_jobs_and_options_are_completed(kernel: Kernel) -> None:
    kernel.run("%steps load relay_pipeline.yml")

    assert completions(kernel, "%steps trans") == ["%steps transcript"]
    assert completions(kernel, "%steps run rel") == ["%steps run relay"]
    assert completions(kernel, "%steps run --back") == ["%steps run --background"]


@pytest.mark.parametrize("form", ["%%steps --as r\n{}", "%%time\n%%steps --as r\n{}"], ids=["awaited", "twin"])
def test_a_question_is_asked_at_the_prompt_where_no_click_arrives(kernel: Kernel, form: str) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "2"

    executed = kernel.finish(kernel.start(form.format(pipelines.ASK), allow_stdin=True), answer=answer)

    assert executed.error is None
    assert prompts == ["writer asks: Which port? [1 A, 2 B] "]
    assert kernel.value("r.outcome.value, r.text") == "('succeeded', 'The port is set.')"
    assert kernel.value("__import__('stepsnb').questions()['source'].iloc[-1]") == "'prompt'"


@pytest.mark.parametrize("form", ["%%steps\n{}", "%%time\n%%steps\n{}"], ids=["awaited", "twin"])
def test_an_interrupt_stops_the_run_and_the_next_cell_works(kernel: Kernel, tmp_path: Path, form: str) -> None:
    marker = tmp_path / "started"
    request = kernel.start(form.format(pipelines.SLEEP.format(marker=marker)))
    while not marker.exists():
        time.sleep(0.05)

    kernel.manager.interrupt_kernel()
    executed = kernel.finish(request)

    assert executed.error == ("Interrupted", "job `slow` was stopped by an interrupt")
    assert kernel.run("%%steps\n" + pipelines.HELLO).error is None

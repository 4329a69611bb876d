"""The live view in JupyterLab and Notebook 7 while a run asks: what a person types and presses, and a kernel killed."""

import os
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.support.older_kernels import OLDER_KERNELS, environment_of

from .lab import FRONT_ENDS, Lab, NotebookPage, wait_for

pytestmark = pytest.mark.browser

KERNELS = {f"ipykernel-{version}": environment_of(version) for version in OLDER_KERNELS}

OpenNotebook = Callable[..., NotebookPage]

LOAD = "%load_ext stepsnb\nimport os; print(os.getpid())"

_SCRIPT = """\
version: 1
replies:
- text: The tide turns at noon.
  thinking: The port matters here, so I ask for it.
  calls:
  - { name: ask_user, arguments: { question: "Which port do you mean?", options: [Quay, Pier] } }
- text: High water is known.
"""

_ASK = """\
%%steps
agents:
- name: writer
  source: { model: scripted/port.yml }
  context_window: 8000
  tools:
  - builtin: ask_user
jobs:
- name: NAME
  plan:
  - agent: writer
    messages: ["When is high water?"]
"""


@pytest.fixture(scope="module", autouse=True)
def _script(lab: Lab) -> None:
    (lab.root / "port.yml").write_text(_SCRIPT)


def asking(open_notebook: OpenNotebook, name: str, front_end: str = "lab") -> tuple[NotebookPage, int]:
    """Open a notebook whose run waits for an answer; also the process of its kernel."""
    page = open_notebook(f"{name}.ipynb", LOAD, _ASK.replace("NAME", name), "_.text", front_end=front_end)
    kernel = int(page.run(0))
    page.start(1)
    view_of(page).locator(".question").wait_for(timeout=20_000)
    return page, kernel


def view_of(page: NotebookPage) -> Locator:
    return page.cell(1).locator(".stepsnb-run")


def answered(page: NotebookPage, answer: str) -> None:
    """Wait for the end of the run, which tells the given answer."""
    page.wait_done(1)
    expect(view_of(page)).to_have_count(0, timeout=10_000)
    wait_for("the static result", lambda: answer in page.text(1))


@pytest.mark.parametrize("version", OLDER_KERNELS)
def test_an_older_kernel_asks_in_the_view_or_at_its_prompt(open_notebook: OpenNotebook, version: str) -> None:
    cells = ("import ipykernel; ipykernel.__version__", "%load_ext stepsnb", _ASK.replace("NAME", "older"))
    page = open_notebook(f"older-{version}.ipynb", *cells, kernel=f"ipykernel-{version}")
    assert version in page.run(0)
    page.run(1)
    page.start(2)

    prompt = page.cell(2).locator(".jp-Stdin-input, .stepsnb-run .question input")
    prompt.first.wait_for(timeout=20_000)
    page.shot(f"live-{version}-asking")
    prompt.first.press_sequentially("the jetty")
    prompt.first.press("Enter")

    page.wait_done(2)
    wait_for("the static result", lambda: "the jetty" in page.text(2))


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_typed_answer_goes_to_the_agent(open_notebook: OpenNotebook, front_end: str) -> None:
    page, _ = asking(open_notebook, f"typed-{front_end}", front_end)
    page.shot(f"live-{front_end}-asking")

    box = view_of(page).get_by_label("Your own answer")
    box.press_sequentially("the jetty")
    box.press("Enter")

    answered(page, "the jetty")


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_the_keys_move_fold_and_answer(open_notebook: OpenNotebook, front_end: str) -> None:
    page, _ = asking(open_notebook, f"keys-{front_end}", front_end)
    view, keyboard = view_of(page), page.page.keyboard
    thinking = view.locator("details.thinking")
    view.locator(".pane").focus()

    while not thinking.locator("summary").evaluate("(summary) => summary === document.activeElement"):
        keyboard.press("j")
    keyboard.press("e")
    expect(thinking.locator("pre")).to_be_visible()
    keyboard.press("c")
    expect(thinking.locator("pre")).to_be_hidden()
    keyboard.press("Enter")
    expect(thinking.locator("pre")).to_be_visible()
    keyboard.press("k")
    expect(thinking.locator("summary")).not_to_be_focused()
    keyboard.press("f")
    expect(view.locator("[aria-live=polite]")).to_have_text("nothing failed")
    page.shot(f"live-{front_end}-keys")
    keyboard.press("2")

    answered(page, "Pier")


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_the_stop_key_ends_the_run(open_notebook: OpenNotebook, front_end: str) -> None:
    page, _ = asking(open_notebook, f"stop-{front_end}", front_end)

    view_of(page).locator(".pane").focus()
    page.page.keyboard.press("s")
    page.wait_done(1, 5)

    wait_for("the error", lambda: "Aborted: job" in page.text(1))
    page.shot(f"live-{front_end}-stopped")


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_view_whose_kernel_was_killed_says_so(open_notebook: OpenNotebook, front_end: str) -> None:
    page, kernel = asking(open_notebook, f"killed-{front_end}", front_end)

    os.kill(kernel, signal.SIGKILL)

    view = view_of(page)
    expect(view.get_by_role("status")).to_have_text("the kernel doesn't answer", timeout=30_000)
    expect(view.get_by_role("alert")).to_contain_text("%steps runs")
    expect(view.get_by_role("button", name="Pier")).to_be_disabled()
    page.shot(f"live-{front_end}-killed")

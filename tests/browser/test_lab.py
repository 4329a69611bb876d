"""What a person sees and does in JupyterLab: answers while the cell runs, Stop, interrupt, and the saved file."""

import os
import re
import time
from collections.abc import Callable

import pytest

import stepsnb

from .lab import Lab, NotebookPage, wait_for

pytestmark = pytest.mark.browser

OpenNotebook = Callable[..., NotebookPage]

LOAD = "%load_ext stepsnb"

_POEM = "The tide comes in over the flats, slow at first, then faster than a child can walk, and turns at noon."

ASK_SCRIPT = f"""\
version: 1
replies:
- text: "{_POEM}"
  delay_s: 0.08
  thinking: The port matters here, so I ask for it.
  calls:
  - {{ name: ask_user, arguments: {{ question: "Which port do you mean?", options: [Quay, Pier] }} }}
- expect: Pier
  text: High water at the pier is at noon.
"""

ASK = """\
%%steps
agents:
- name: writer
  source: { model: scripted/ask.yml }
  context_window: 8000
  tools:
  - builtin: ask_user
jobs:
- name: high-water
  plan:
  - agent: writer
    messages: ["When is high water?"]
"""

SLEEP_SCRIPT = """\
version: 1
replies:
- text: I will wait for the tide.
  calls:
  - { name: run_shell, arguments: { command: "echo $$ > FOLDER/NAME.pid; exec sleep 300" } }
- text: Done.
"""

SLEEP = """\
agents:
- name: worker
  source: {{ model: scripted/{name}.yml }}
  tools:
  - builtin: run_shell
jobs:
- name: {name}
  plan:
  - agent: worker
    messages: ["Wait."]
"""

RELAY = """\
agents:
- name: reader
  source: { model: scripted/relay.yml }
jobs:
- name: relay
  plan:
  - task: write
    run: echo spring tide > note/tide.txt
    outputs: [note]
  - agent: reader
    messages: ["What does note/tide.txt say?"]
    inputs: [note]
"""

RELAY_SCRIPT = """\
version: 1
replies:
- calls:
  - { name: read_file, arguments: { path: note/tide.txt } }
- expect: spring tide
  text: It says spring tide.
"""

SHOUT = "%%steps\n- task: shout\n  run: tr a-z A-Z < note/tide.txt\n  inputs: [note]"


@pytest.fixture(scope="module", autouse=True)
def _files(lab: Lab) -> None:
    (lab.root / "ask.yml").write_text(ASK_SCRIPT)
    (lab.root / "relay.yml").write_text(RELAY_SCRIPT)
    (lab.root / "relay_pipeline.yml").write_text(RELAY)


def sleeping(lab: Lab, name: str) -> str:
    """A cell whose agent sleeps for five minutes in a shell, under a file name of its own."""
    (lab.root / f"{name}.yml").write_text(SLEEP_SCRIPT.replace("FOLDER", str(lab.root)).replace("NAME", name))
    return SLEEP.format(name=name)


def sleeper(lab: Lab, name: str) -> int:
    """Wait until the shell sleeps, and return its process."""
    file = lab.root / f"{name}.pid"
    wait_for(f"the shell of {name}", lambda: file.is_file() and bool(file.read_text().strip()))
    return int(file.read_text())


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_question_is_answered_by_a_click_while_the_cell_runs(open_notebook: OpenNotebook, lab: Lab) -> None:
    page = open_notebook("ask.ipynb", LOAD, ASK, "_.outcome.value, _.text")
    page.run(0)
    cell = page.start(1)
    view = cell.locator(".stepsnb-run")

    wait_for("the first words", lambda: "The tide" in view.locator(".pane").inner_text())
    early = view.locator(".pane").inner_text()
    assert _POEM not in early
    wait_for("more words", lambda: len(view.locator(".pane").inner_text()) > len(early) + 10)
    page.shot("01-streaming")
    choice = view.locator(".choices button", has_text="Pier")
    choice.wait_for(timeout=15_000)
    assert _POEM in view.locator(".pane").inner_text()
    assert page.is_running(1)
    page.shot("02-asking")
    choice.click()
    page.wait_done(1)

    wait_for("the static result", lambda: "High water at the pier is at noon." in page.text(1))
    assert cell.locator(".stepsnb-run").count() == 0
    page.shot("03-done")
    assert page.run(2) == "('succeeded', 'High water at the pier is at noon.')"


def test_the_saved_file_shows_the_transcript_without_a_kernel(
    open_notebook: OpenNotebook, lab: Lab, new_page: Callable[[], object]
) -> None:
    page = open_notebook("saved.ipynb", LOAD, ASK.replace("%%steps", "%%steps --answer port=Pier"))
    page.run(0)
    page.run(1)
    cells = page.save()

    [output] = cells[1]["outputs"]
    assert output["output_type"] == "display_data"
    assert sorted(output["data"]) == ["text/html", "text/plain"]
    assert not re.search(r"<(script|style)|class=", "".join(output["data"]["text/html"]))

    text = (lab.root / "saved.ipynb").read_text()
    without_kernel = re.sub(r'"kernelspec": \{[^}]*\}', '"kernelspec": {"name": "", "display_name": ""}', text)
    (lab.root / "reopened.ipynb").write_text(without_kernel)
    reopened = page.page
    reopened.goto(f"{lab.url}/lab/tree/reopened.ipynb?reset")
    shown = reopened.locator(".jp-OutputArea-output", has_text="high-water")
    shown.wait_for(timeout=60_000)
    if (dialog := reopened.locator(".jp-Dialog button", has_text="No Kernel")).count():
        dialog.click()
    shown.locator("summary", has_text="writer").click()
    page.shot("04-reopened")
    assert "High water at the pier is at noon." in shown.inner_text()


def test_stop_gives_the_prompt_back(open_notebook: OpenNotebook, lab: Lab) -> None:
    page = open_notebook("stop.ipynb", LOAD, "%%steps\n" + sleeping(lab, "stopped"), "%steps runs", "1 + 1")
    page.run(0)
    cell = page.start(1)
    pid = sleeper(lab, "stopped")
    page.shot("05-before-stop")

    began = time.monotonic()
    cell.locator(".stepsnb-run header button", has_text="Stop").click()
    page.wait_done(1, 5)

    assert time.monotonic() - began < 3
    assert is_gone(pid)
    wait_for("the error", lambda: "Aborted: job `stopped`: step `worker` aborted" in page.text(1))
    page.shot("06-after-stop")
    assert "aborted" in page.run(2)
    assert page.run(3) == "2"


@pytest.mark.parametrize("form", ["awaited", "twin"])
def test_an_interrupt_gives_the_prompt_back(open_notebook: OpenNotebook, lab: Lab, form: str) -> None:
    body = sleeping(lab, form)
    source = f"%%steps\n{body}" if form == "awaited" else f"get_ipython().run_cell_magic('steps', '', {body!r})"
    page = open_notebook(f"{form}.ipynb", LOAD, source, "%steps runs", "1 + 1")
    page.run(0)
    cell = page.start(1)
    pid = sleeper(lab, form)
    cell.locator(".stepsnb-run").wait_for(timeout=10_000)

    began = time.monotonic()
    page.interrupt()
    page.wait_done(1, 5)

    assert time.monotonic() - began < 3
    assert is_gone(pid)
    wait_for("the error", lambda: "Interrupted: job" in page.text(1))
    page.shot(f"07-interrupted-{form}")
    assert "aborted" in page.run(2)
    assert page.run(3) == "2"


def test_clicks_arrive_in_the_synchronous_twin(open_notebook: OpenNotebook) -> None:
    body = ASK.removeprefix("%%steps\n")
    page = open_notebook(
        "twin_ask.ipynb", LOAD, f"%%time\nr = get_ipython().run_cell_magic('steps', '', {body!r})", "r.text"
    )
    page.run(0)
    cell = page.start(1)

    cell.locator(".choices button", has_text="Pier").click(timeout=20_000)
    page.wait_done(1)

    assert page.run(2) == "'High water at the pier is at noon.'"


def test_cells_carry_an_artifact_from_one_to_the_next(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        "cells.ipynb",
        LOAD,
        "%steps load relay_pipeline.yml",
        "%steps next",
        SHOUT,
        "last = %steps next",
        "last.outcome.value",
    )

    page.run(0)
    assert "relay" in page.run(1)
    assert "1 of 2 steps done" in page.run(2)
    assert "SPRING TIDE" in page.run(3)
    page.run(4)
    page.shot("08-cell-by-cell")
    assert page.run(5) == "'succeeded'"


def test_closing_the_notebooks_kernel_leaves_no_process(open_notebook: OpenNotebook, lab: Lab) -> None:
    page = open_notebook("closed.ipynb", LOAD, "%%steps\n" + sleeping(lab, "closed"))
    page.run(0)
    page.start(1)
    pid = sleeper(lab, "closed")

    page.page.evaluate(
        "async () => { for (const k of await (await fetch('/api/kernels')).json())"
        " await fetch(`/api/kernels/${k.id}`, {method: 'DELETE'}) }"
    )

    wait_for("the shell to be gone", lambda: is_gone(pid), 10)
    assert stepsnb.runs(store=lab.root / ".steps")["outcome"].iloc[0] == "aborted"

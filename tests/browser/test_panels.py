"""Controls below a cell, in JupyterLab and Notebook 7: a loaded pipeline, files to pick from, open questions."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.support.axe import violations

from .lab import FRONT_ENDS, KERNEL_IS_READY, Lab, NotebookPage, wait_for

pytestmark = pytest.mark.browser

OpenNotebook = Callable[..., NotebookPage]

_PIPELINE = """\
jobs:
- name: greet
  plan:
  - task: write
    outputs: [note]
    run: printf '((greeting)) from <b>((ship))</b>' > note/text; sleep ((seconds))
  - in_parallel:
    - { task: left, inputs: [note], run: cat note/text }
    - { task: right, run: "true" }
  - task: check
    inputs: [note]
    run: cat note/text
    max_visits: 2
    to: { failure: write }
- name: other
  plan: [{ task: only, run: echo other }]
"""

_ASKING = """\
jobs:
- name: release
  plan:
  - approval: { message: "Release <b>it</b>?" }
  - { task: done, run: echo released }
"""


_SLOW = """\
%%steps --background --as handle
jobs:
- name: slow
  plan:
  - { task: wait, run: sleep 2; echo waited }
"""


@pytest.fixture(scope="module", autouse=True)
def _files(lab: Lab) -> None:
    (lab.root / "greet.yml").write_text(_PIPELINE)
    (lab.root / "release.yml").write_text(_ASKING)
    (lab.root / "notes.yml").write_text("just: notes\n")


def panel_of(page: NotebookPage, cell: int = 1) -> Locator:
    panel = page.cell(cell).locator(".stepsnb-panel")
    panel.wait_for(timeout=20_000)
    return panel


def press(panel: Locator, name: str) -> None:
    panel.get_by_role("button", name=name).click()


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_loaded_pipeline_runs_by_its_button_with_the_values_typed_in(
    open_notebook: OpenNotebook, front_end: str
) -> None:
    name = f"panel-{front_end}"
    page = open_notebook(
        f"{name}.ipynb", "%load_ext stepsnb\nship = 'Vega'", "%steps load greet.yml --use ship", front_end=front_end
    )
    page.run(0)
    page.run(1)
    panel = panel_of(page)
    expect(panel.get_by_label("((ship))")).to_have_value("Vega")

    press(panel, "Run")
    expect(panel.get_by_role("status")).to_have_text("no value yet for `((greeting))`, `((seconds))`; fill it in above")
    panel.get_by_label("((greeting))").fill("Hello")
    panel.get_by_label("((seconds))").fill("0")
    page.shot(f"{name}-ready")
    press(panel, "Run")

    expect(panel.get_by_role("status")).to_contain_text("job greet succeeded", timeout=20_000)
    wait_for("the result", lambda: "Hello from <b>Vega</b>" in page.text(1))
    assert page.cell(1).locator("b", has_text="Vega").count() == 0
    page.shot(f"{name}-done")
    assert violations(page.page, ".stepsnb-panel") == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_nothing_in_a_panel_in_either_theme(open_notebook: OpenNotebook, theme: str) -> None:
    shade = theme.split()[1].lower()
    page = open_notebook(
        f"panel-axe-{shade}.ipynb", "%load_ext stepsnb\nship = 'Vega'", "%steps load greet.yml --use ship"
    )
    page.run(0)
    page.run(1)
    panel = panel_of(page)
    page.change_theme(theme)
    press(panel, "Run")
    expect(panel.get_by_role("status")).to_contain_text("no value yet")
    page.shot(f"panel-{shade}")

    assert violations(page.page, ".stepsnb-panel") == []


def test_next_goes_on_step_by_step_and_stop_ends_a_run(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        "next.ipynb",
        "%load_ext stepsnb\ngreeting, ship, seconds = 'Hi', 'Vega', 60",
        "%steps load greet.yml --use greeting ship seconds",
        "%steps runs",
    )
    page.run(0)
    page.run(1)
    panel = panel_of(page)

    press(panel, "Next")
    expect(panel.locator(".box.running")).to_contain_text("write", timeout=10_000)
    press(panel, "Stop")
    expect(panel.get_by_role("status")).to_contain_text("job greet aborted", timeout=10_000)

    panel.get_by_label("((seconds))").fill("0")
    press(panel, "Next")
    expect(panel.get_by_role("button", name="Next: in parallel")).to_be_enabled(timeout=10_000)
    page.shot("panel-between-steps")
    press(panel, "Next")
    expect(panel.get_by_role("button", name="Next: check")).to_be_enabled(timeout=10_000)
    press(panel, "Next")
    expect(panel.get_by_role("status")).to_contain_text("job greet succeeded", timeout=10_000)
    assert "aborted" in page.run(2)


def test_another_job_is_chosen_in_the_panel(open_notebook: OpenNotebook) -> None:
    page = open_notebook("job.ipynb", "%load_ext stepsnb\nimport stepsnb", "stepsnb.load('greet.yml', leave_open=True)")
    page.run(0)
    page.run(1)
    panel = panel_of(page)

    panel.get_by_label("job").select_option("other")
    for variable in ("greeting", "ship", "seconds"):
        panel.get_by_label(f"(({variable}))").fill("1")
    press(panel, "Run")

    expect(panel.get_by_role("status")).to_contain_text("job other succeeded", timeout=20_000)


def test_a_pipeline_is_picked_by_a_click_and_loaded_for_the_next_cells(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        "pick.ipynb", "%load_ext stepsnb\nimport stepsnb", "stepsnb.load()", "%steps run --answer 'Release=approve'"
    )
    page.run(0)
    assert "notes.yml" not in page.run(1)
    panel = panel_of(page)
    page.shot("panel-picker")

    press(panel, "release.yml")
    expect(panel.get_by_label("plan")).to_contain_text("approval")

    assert "released" in page.run(2)


def test_what_waits_for_an_answer_is_answered_below_the_list(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        "inbox.ipynb",
        "%load_ext stepsnb\nimport stepsnb",
        "p = stepsnb.load('release.yml')\nhandle = p.start(parks=True)\nimport time; time.sleep(1)",
        "%steps questions",
        "%steps approvals",
        "handle.result().outcome",
    )
    page.run(0)
    page.run(1)
    page.run(2)
    page.run(3)
    panel = panel_of(page, 3)
    expect(panel).to_contain_text("Release <b>it</b>?")
    page.shot("panel-inbox")
    assert violations(page.page, ".stepsnb-panel") == []

    panel.get_by_label("Reason").fill("looks good")
    press(panel, "approve")
    expect(panel.get_by_role("status")).to_contain_text("answered: approve: looks good", timeout=10_000)

    assert "succeeded" in page.run(4)
    expect(panel).to_contain_text("Nothing waits for an answer")


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_run_in_the_background_is_shown_while_other_cells_run(open_notebook: OpenNotebook, front_end: str) -> None:
    page = open_notebook(
        f"background-{front_end}.ipynb",
        "%load_ext stepsnb",
        _SLOW,
        "1 + 1",
        "handle.result().text",
        front_end=front_end,
    )
    page.run(0)
    assert "RunHandle" in page.run(1)

    assert page.run(2) == "2"
    assert "waited" in page.run(3)
    wait_for("the result in the cell that started it", lambda: "waited" in page.text(1))


def test_a_panel_says_that_its_kernel_has_gone(open_notebook: OpenNotebook) -> None:
    page = open_notebook("gone.ipynb", "%load_ext stepsnb", "%steps load release.yml")
    page.run(0)
    page.run(1)
    panel = panel_of(page)

    page.page.click("[data-command='notebook:restart-kernel']")
    page.page.locator(".jp-Dialog button.jp-mod-accept").click()

    page.page.wait_for_function(KERNEL_IS_READY, timeout=30_000)
    press(panel, "Run")

    expect(panel.get_by_role("status")).to_contain_text("The kernel doesn't answer", timeout=10_000)

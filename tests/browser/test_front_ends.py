"""The live view in JupyterLab and Notebook 7 when a page, a tab or a second view comes and goes."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

import stepsnb
from tests.support.axe import violations

from .lab import FRONT_ENDS, Lab, NotebookPage, wait_for
from .test_live_view import OpenNotebook, answered, asking, view_of
from .test_live_view import _script as _script

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def _asking_pipeline(lab: Lab) -> None:
    (lab.root / "asks.yml").write_text("jobs: [{ name: ask, plan: [{ approval: { message: Go? } }] }]\n")


def transcript_in(page: NotebookPage) -> str:
    """What the view tells, without how much time is left to answer."""
    return re.sub(r"\d+:\d\d left", "", view_of(page).locator(".pane").inner_text())


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_page_loaded_again_in_mid_run_shows_the_view_whole_and_takes_the_answer(
    open_notebook: OpenNotebook, front_end: str
) -> None:
    page, _ = asking(open_notebook, f"reload-{front_end}", front_end)
    before = transcript_in(page)
    page.save()

    page.visit()

    view_of(page).locator(".question").wait_for(timeout=20_000)
    assert transcript_in(page) == before
    page.shot(f"live-{front_end}-reloaded")
    view_of(page).get_by_role("button", name="Pier").click()

    expect(view_of(page).locator(".status")).to_have_text("succeeded", timeout=10_000)
    expect(view_of(page).locator(".pane")).to_contain_text("High water is known.")
    page.shot(f"live-{front_end}-reloaded-done")
    assert "is under way; the result takes this place" in str(page.save()[1]["outputs"])
    page.start(2)
    wait_for("the result in a later cell", lambda: "High water is known." in page.text(2))


def test_a_tab_closed_and_opened_again_shows_the_view_whole(
    open_notebook: OpenNotebook, new_page: Callable[[], Page]
) -> None:
    page, _ = asking(open_notebook, "closed-tab")
    before = transcript_in(page)
    page.save()
    page.page.close()

    page.visit(new_page())

    view_of(page).locator(".question").wait_for(timeout=20_000)
    assert transcript_in(page) == before


def test_a_run_that_ended_while_no_tab_was_open_is_there_when_one_is(
    open_notebook: OpenNotebook, new_page: Callable[[], Page], lab: Lab
) -> None:
    page, _ = asking(open_notebook, "no-tab")
    page.save()
    page.page.close()

    question = stepsnb.questions(store=lab.root / ".steps")["id"].iloc[-1]
    stepsnb.answer(question, "Pier", store=lab.root / ".steps")
    page.visit(new_page())

    expect(view_of(page).locator(".status")).to_have_text("succeeded", timeout=20_000)
    expect(view_of(page).locator(".pane")).to_contain_text("High water is known.")


def test_two_notebooks_ask_at_once_and_each_gets_its_own_answer(open_notebook: OpenNotebook) -> None:
    one, _ = asking(open_notebook, "one")
    other, _ = asking(open_notebook, "other")

    view_of(other).get_by_role("button", name="Quay").click()
    answered(other, "Quay")
    assert one.is_running(1)
    view_of(one).get_by_role("button", name="Pier").click()
    answered(one, "Pier")


def test_two_views_of_one_run_show_the_same_and_either_answers(open_notebook: OpenNotebook) -> None:
    page, _ = asking(open_notebook, "twice")
    page.page.evaluate("() => window.jupyterapp.commands.execute('notebook:create-output-view')")
    views = page.page.locator(".stepsnb-run")
    expect(views.locator(".question")).to_have_count(2, timeout=10_000)
    page.shot("live-two-views")

    assert views.nth(0).locator(".pane").inner_text() == views.nth(1).locator(".pane").inner_text()
    page.page.locator(".jp-LinkedOutputView").get_by_role("button", name="Pier").click()

    answered(page, "Pier")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_nothing_in_the_view_in_jupyterlab(open_notebook: OpenNotebook, theme: str) -> None:
    page, _ = asking(open_notebook, "axe-" + theme.split()[1].lower())
    page.change_theme(theme)
    view_of(page).locator(".pane").focus()
    page.page.keyboard.press("e")
    page.shot(f"live-axe-{theme.split()[1].lower()}")

    assert violations(page.page) == []


def test_views_of_two_runs_stand_side_by_side_in_a_layout_of_ipywidgets(open_notebook: OpenNotebook) -> None:
    start = "pipeline.start(parks=True)"
    page = open_notebook(
        "layout.ipynb",
        "%load_ext stepsnb\nimport ipywidgets, stepsnb\npipeline = stepsnb.load('asks.yml')",
        f"runs = [{start}, {start}]\nipywidgets.HBox([stepsnb.live_view(run) for run in runs])",
        "[run.result().outcome.value for run in runs]",
    )
    page.run(0)
    page.start(1)
    views = page.cell(1).locator(".stepsnb-run")
    expect(views.locator(".question")).to_have_count(2, timeout=20_000)
    page.shot("live-layout")

    views.nth(0).get_by_role("button", name="approve").click()
    expect(views.nth(0).locator(".status")).to_have_text("succeeded", timeout=10_000)
    assert views.nth(1).locator(".status").inner_text() == "waiting for you"
    views.nth(1).get_by_role("button", name="reject").click()

    expect(views.nth(1).locator(".status")).to_have_text("failed", timeout=10_000)
    assert page.run(2) == "['succeeded', 'failed']"

"""One JupyterLab server and one Chromium for a module's tests."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from .lab import Lab, NotebookPage, chromium, running_lab


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab with a folder and settings of its own, and besides its kernel those in the module's `KERNELS`."""
    with running_lab(tmp_path_factory.mktemp("lab"), getattr(request.module, "KERNELS", {})) as lab:
        yield lab


@pytest.fixture(scope="module")
def new_page() -> Iterator[Callable[[], Page]]:
    """Chromium, as a function that opens a page."""
    with chromium() as new_page:
        yield new_page


@pytest.fixture
def open_notebook(lab: Lab, new_page: Callable[[], Page], tmp_path: Path) -> Iterator[Callable[..., NotebookPage]]:
    """Write a notebook with the given cells and open it; pictures go to `STEPSNB_SHOTS` when it is set."""
    shots = Path(os.environ.get("STEPSNB_SHOTS", tmp_path / "shots"))
    pages: list[Page] = []

    def open_notebook(name: str, *cells: str, front_end: str = "lab", kernel: str = "python3") -> NotebookPage:
        pages.append(new_page())
        return NotebookPage(pages[-1], lab, lab.write(name, *cells, kernel_name=kernel), shots, front_end)

    yield open_notebook
    for page in pages:
        page.close()

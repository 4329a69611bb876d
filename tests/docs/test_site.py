"""The pages, the notebooks and the Python API make a site, without a warning and without anybody else's server."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import stepsnb

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(TOP / "docs" / "site.py"), str(out)]
    built = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=170)
    assert (built.returncode, built.stderr) == (0, ""), built.stdout + built.stderr
    return out


def test_every_page_and_notebook_is_on_it(site: Path) -> None:
    pages = [path.relative_to(TOP / "docs") for path in (TOP / "docs").rglob("*.md")]
    notebooks = [Path("tutorials", path.name) for path in (TOP / "notebooks").glob("*.ipynb")]
    missing = [page for page in (*pages, *notebooks) if not (site / page.with_suffix(".html")).exists()]
    assert missing == []


def test_every_public_name_is_described(site: Path) -> None:
    text = (site / "reference" / "python.html").read_text("utf-8")
    ids = set(re.findall(r'<section id="([\w-]+)">', text))
    assert {name.lower().replace("_", "-") for name in stepsnb.__all__} <= ids


def test_notebooks_show_their_stored_outputs(site: Path) -> None:
    assert "from the cache" in (site / "tutorials" / "06_count_costs.html").read_text("utf-8")


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r'<(?:script|link|img)\b[^>]*\b(?:src|href)="((?:https?:)?//[^"]+)"')
    found = {url for page in site.rglob("*.html") for url in loaded.findall(page.read_text("utf-8"))}
    assert found == set()

"""Each of the ten named packages is used by the product, and by a test that shows it at work."""

from pathlib import Path

import pytest
from ipywidgets import DOMWidget

from stepsnb.notebook.widgets import RunView

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("product", "words", "test"),
    [
        ("stepsnb/cli/demo_headless.py", "ipykernel_launcher", "tests/notebook/test_headless.py"),
        ("stepsnb/notebook/widgets/run_view/run_view.py", "anywidget.AnyWidget", "tests/notebook/test_run_view.py"),
        ("stepsnb/engine.py", "import nest_asyncio", "tests/test_engine.py"),
        ("stepsnb/config/concept.py", "from pydantic import", "tests/config/test_document.py"),
        ("stepsnb/llm/transports/network.py", "import httpx", "tests/llm/transports/test_network.py"),
        ("stepsnb/llm/find_client.py", "openai.OpenAI()", "tests/e2e/test_client.py"),
        ("stepsnb/store/connection.py", "import duckdb", "tests/store/test_connection.py"),
        ("stepsnb/store/frames/frame.py", "import pandas", "tests/store/frames/test_frame.py"),
        ("stepsnb/config/reader.py", "import yaml", "tests/config/test_reader.py"),
        ("pyproject.toml", "nbval", "tests/notebooks/test_nbval.py"),
    ],
)
def test_package_is_used_here_and_tested_there(product, words, test):
    assert words in (TOP / product).read_text(encoding="utf-8")
    assert "def test_" in (TOP / test).read_text(encoding="utf-8")


def test_live_view_is_an_ipywidget():
    assert issubclass(RunView, DOMWidget)

"""A real IPython shell, and a real kernel, for the magics."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from .kernel import Kernel, running_kernel


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """An IPython shell without a kernel, with the extension loaded, in a folder of its own."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path)
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    shell.run_line_magic("load_ext", "stepsnb")
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    """A fresh kernel in a folder of its own, with the extension loaded."""
    with running_kernel(tmp_path) as kernel:
        assert kernel.run("%load_ext stepsnb").reply["status"] == "ok"
        yield kernel

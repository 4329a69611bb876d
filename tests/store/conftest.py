"""A store of one's own for each test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepsnb.errors import StoreError
from stepsnb.store import Store, open_spool


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """The folder of a store that does not exist yet; this process's spool in it is closed afterwards."""
    folder = tmp_path / ".steps"
    yield folder
    if folder.exists():
        with contextlib.suppress(StoreError):  # of a test in which events were lost
            open_spool(folder).close()


@pytest.fixture
def store(root: Path) -> Store:
    """The store in `root`."""
    return Store(root)

"""Where `tests/prepare.py` puts other versions of ipykernel, and how a kernel is started with one of them."""

import os
from pathlib import Path

from platformdirs import user_cache_path

OLDER_KERNELS = ("6.30.1", "7.3.0")
"""The oldest one that is supported, and the one before comm messages were served while a cell runs."""


def packages_of(version: str) -> Path:
    """Return the folder that holds nothing but this version of ipykernel."""
    return user_cache_path("stepsnb") / "test-ipykernels" / version


def environment_of(version: str) -> dict[str, str]:
    """Return what puts this version before the installed one, for a process that starts a kernel."""
    before = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(packages_of(version)), before)))}

"""Where `tests/prepare.py` builds the environment that Binder would, from the files in `binder/`."""

from pathlib import Path

from platformdirs import user_cache_path

ROOT = Path(__file__).parents[2]
BINDER = ROOT / "binder"
BINDER_ENVIRONMENT = user_cache_path("stepsnb") / "test-binder"


def binder_program(name: str) -> Path:
    """Return a program of that environment."""
    return BINDER_ENVIRONMENT / "bin" / name

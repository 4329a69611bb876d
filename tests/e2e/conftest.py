"""One agent step to run, for tests that need no pipeline of their own."""

from tests.support.fixtures_step import ends, run, store, waits

__all__ = ["ends", "run", "store", "waits"]

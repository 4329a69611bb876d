"""Runs of one agent step that show a number. Each number is written out in its test, as the documentation states it."""

from tests.support.fixtures_step import ends, run, store, waits

__all__ = ["ends", "run", "store", "waits"]

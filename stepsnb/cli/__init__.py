"""The command `stepsnb`: argument parsing, what a terminal shows, and exit codes; the verbs are those of `api`."""

from .main import main

__all__ = ["main"]

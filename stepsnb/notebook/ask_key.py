"""Asks for keys that are missing, without showing what is typed."""

import getpass
from typing import TYPE_CHECKING

from ..keys import find_key, keep_key
from .asker import interruptible

if TYPE_CHECKING:
    from ..api import LoadedPipeline

_declined: set[str] = set()


def ask_for_keys(pipeline: "LoadedPipeline") -> None:
    """Ask for each key that the agents of a pipeline need and nothing holds; on the cell's thread, once a kernel.

    What is typed stays in memory. Enter alone leaves a key out. Raises: KeyboardInterrupt.
    """
    for variable, agent in pipeline.key_variables.items():
        if variable in _declined or find_key(variable):
            continue
        try:
            with interruptible():
                key = getpass.getpass(f"{variable}, for agent {agent}; kept in this kernel's memory only: ").strip()
        except EOFError:
            key = ""
        if key:
            keep_key(variable, key)
        else:
            _declined.add(variable)

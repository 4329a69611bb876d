"""How a front end's messages reach a comm while a cell runs."""

from typing import Any


def let_front_end_route(comm: Any) -> None:
    """Undo ipykernel 7.4's pinning of a comm's replies to the subshell that last sent on it.

    While a cell runs that is the one the cell occupies; the front end's own choice is a subshell that is free.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda data, default: default

"""The notebook front end: magics, the live view in a cell, and the cell's side of a run; the only Jupyter code."""

from typing import Any

__all__ = ["awaited_magic", "load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Handle `%load_ext stepsnb`."""
    from .extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Handle `%unload_ext stepsnb`."""
    from .extension import unload_ipython_extension as unload

    unload(shell)


async def awaited_magic(name: str, line: str, cell: str | None = None) -> object:
    """Run one of our magics in an awaited cell; the input transformer writes this call, nobody else does."""
    from .extension import loaded_magics

    return await loaded_magics().run_awaited(name, line, cell)

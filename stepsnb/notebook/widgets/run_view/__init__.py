"""The live view of one run."""

from .run_view import RunView

__all__ = ["RunView"]

"""Controls below a cell: a loaded pipeline, files to pick from, open questions."""

from .panel import Panel

__all__ = ["Panel"]

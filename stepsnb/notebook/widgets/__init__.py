"""The live widgets, each in a folder of its own with its `.js` and `.css`; importing this loads ipywidgets."""

from .run_view import RunView

__all__ = ["RunView"]

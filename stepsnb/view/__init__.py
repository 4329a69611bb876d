"""What people see of a run: a pure fold of events into view state, and its HTML and text renderers."""

from .compared import Row, compared_html, compared_text
from .conversation import conversation_html, conversation_text, static_conversation_text
from .document import apply_patches
from .fold import Fold
from .html import render_html
from .text import render_text

__all__ = [
    "Fold",
    "Row",
    "apply_patches",
    "compared_html",
    "compared_text",
    "conversation_html",
    "conversation_text",
    "render_html",
    "render_text",
    "static_conversation_text",
]

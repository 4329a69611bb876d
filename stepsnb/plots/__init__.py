"""Pictures of what runs did and cost: drawn with matplotlib where it is installed, else as text."""

from .data import KINDS, Bars, Lines, Picture, Spans, picture_of
from .text import picture_text

__all__ = ["KINDS", "Bars", "Lines", "Picture", "Spans", "picture_of", "picture_text"]

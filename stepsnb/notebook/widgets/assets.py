"""The style sheets of the widgets: one look for all of them, and what each adds to it."""

from pathlib import Path


def style_of(module: str, sheet: str) -> str:
    """Return the palette, then the style sheet beside a module's file."""
    files = (Path(__file__).with_name("palette.css"), Path(module).with_name(sheet))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)

"""The colours of the widgets: readable on their own surfaces and on those of JupyterLab's themes."""

import re
from pathlib import Path

import pytest

import stepsnb.notebook

_PALETTE = Path(stepsnb.notebook.__file__).parent / "widgets" / "palette.css"
_COLOURS = {
    name: {"light": light, "dark": dark}
    for name, light, dark in re.findall(
        r"--sn-([\w-]+): (?:var\([\w-]+, )?light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\)", _PALETTE.read_text()
    )
}
_LAB = {"light": ("#ffffff", "#eeeeee"), "dark": ("#212121", "#424242")}
"""`--jp-layout-color1` and `--jp-layout-color2` of JupyterLab's own themes."""


def luminance(colour: str) -> float:
    """Relative luminance. Source: WCAG 2.2."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["fg2", "accent", "ok", "bad", "warn"])
def test_text_of_every_colour_can_be_read_on_every_surface(name: str, theme: str) -> None:
    surfaces = [*_LAB[theme], _COLOURS["bg"][theme], _COLOURS["bg2"][theme]]

    assert {
        surface: round(ratio, 2) for surface in surfaces if (ratio := contrast(_COLOURS[name][theme], surface)) < 4.5
    } == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["fg", "fg2", "accent"])
def test_text_on_the_lit_row_can_be_read(name: str, theme: str) -> None:
    assert contrast(_COLOURS[name][theme], _COLOURS["accent-bg"][theme]) >= 4.5

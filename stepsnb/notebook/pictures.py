"""Figures and images of a notebook as files for an agent: what `%%agent --image` names."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..suggest import did_you_mean


def picture_files(names: list[str], namespace: Mapping[str, Any], folder: Path) -> list[Path]:
    """Return the files that `names` name: paths as they are, pictures in Python variables written into `folder`.

    A variable may hold a figure or axes of matplotlib, an image of Pillow, anything else with a PNG for Jupyter, or
    the bytes of an image file.

    Raises: InputError for a name that is neither, and a variable that holds no picture.
    """
    files = []
    for name in names:
        if name not in namespace:
            path = Path(name).expanduser()
            if not path.is_file():
                guess = did_you_mean(name, namespace)
                raise InputError(f"%%agent: `--image {name}`: there is no such file or Python variable{guess}")
            files.append(path)
            continue
        raw = _bytes_of(namespace[name])
        if raw is None:
            kind = type(namespace[name]).__name__
            raise InputError(
                f"%%agent: `--image {name}`: a {kind} is no picture; name a figure, an image, its bytes or a file"
            )
        file = folder / f"{name}.png"  # what it is, its bytes say
        file.write_bytes(raw)
        files.append(file)
    return files


def _bytes_of(value: Any) -> bytes | None:
    buffer = io.BytesIO()
    if isinstance(value, bytes):
        return value
    figure = value if hasattr(value, "savefig") else getattr(value, "figure", None)
    if hasattr(figure, "savefig"):
        figure.savefig(buffer, format="png")  # type: ignore[union-attr]  # of whatever library, by its protocol
        return buffer.getvalue()
    if hasattr(value, "save") and hasattr(value, "tobytes"):
        value.save(buffer, "PNG")
        return buffer.getvalue()
    shown = value._repr_png_() if hasattr(value, "_repr_png_") else None
    return shown if isinstance(shown, bytes) else None

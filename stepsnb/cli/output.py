"""What reaches the terminal: text with control characters shown instead of obeyed, tables, and one JSON value."""

import json
import sys
from collections.abc import Sequence
from typing import TextIO


def say(text: str = "", *, file: TextIO | None = None) -> None:
    """Print foreign text as lines a terminal cannot be steered with."""
    from ..view.visible import visible

    print(visible(text), file=file or sys.stdout, flush=True)


def print_json(value: object) -> None:
    """Print `value` as the one JSON value of `--json`."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print aligned columns; those named in `right` are flush right."""
    from ..view.visible import visible

    cells = [[" ".join(visible(cell).split()) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(header), *cells]) for i in range(len(header))]
    for line in [list(header), *cells]:
        padded = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, line, widths, strict=True)
        ]
        print("  ".join(padded).rstrip())


def records(frame: object) -> list[dict[str, object]]:
    """Return the rows of a DataFrame as JSON values: times as ISO 8601 in UTC, a missing value as null."""
    text = frame.to_json(orient="records", date_format="iso", date_unit="ms")  # type: ignore[attr-defined]  # pandas stays unimported here
    rows: list[dict[str, object]] = json.loads(text)
    return rows


def share(part: float, whole: float) -> str:
    """Return `part` of `whole` as a whole percentage."""
    return f"{round(100 * part / whole) if whole else 0}%"

"""What reaches the terminal: text with control characters shown instead of obeyed, tables, and one JSON value."""

import json
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from ..errors import StepsError


class OutputError(StepsError):
    """Standard output cannot be written to, so what was asked for is not there."""

    code = "output"


def open_closed_streams() -> None:
    """Put the null device where a standard stream was closed, so that no file of ours takes its number.

    Raises: OutputError if standard output was one of them.
    """
    was_closed = sys.stdout is None
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - open to the end
    if was_closed:
        raise OutputError("standard output is closed; send it somewhere, for example to `/dev/null`")


def silence(stream: TextIO) -> None:
    """Send the rest of a standard stream nowhere: the interpreter's own flush at exit must not fail as well."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def write(text: str, file: TextIO | None = None, *, end: str = "\n") -> None:
    """Print `text` at once. What cannot be said on standard error is lost, as there is nowhere else to say it.

    Raises: BrokenPipeError when nobody reads standard output any more; OutputError when it cannot be written to.
    """
    out = file or sys.stdout
    try:
        print(text, file=out, end=end, flush=True)
    except OSError as exc:
        if out is sys.stderr:
            silence(out)
            return
        if isinstance(exc, BrokenPipeError):
            raise
        raise OutputError(f"cannot write to standard output: {exc.strerror}; send it somewhere else") from exc


def say(text: str = "", *, file: TextIO | None = None) -> None:
    """Print foreign text as lines a terminal cannot be steered with."""
    from ..visible import visible

    write(visible(text), file)


def print_json(value: object) -> None:
    """Print `value` as the one JSON value of `--json`."""
    write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print aligned columns; those named in `right` are flush right."""
    from ..visible import visible

    cells = [[" ".join(visible(cell).split()) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(header), *cells]) for i in range(len(header))]
    lines = []
    for line in [list(header), *cells]:
        padded = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, line, widths, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    write("\n".join(lines))


def records(frame: object) -> list[dict[str, object]]:
    """Return the rows of a DataFrame as JSON values: times as ISO 8601 in UTC, a missing value as null."""
    text = frame.to_json(orient="records", date_format="iso", date_unit="ms")  # type: ignore[attr-defined]  # pandas stays unimported here
    rows: list[dict[str, object]] = json.loads(text)
    return rows


def share(part: float, whole: float) -> str:
    """Return `part` of `whole` as a whole percentage."""
    return f"{round(100 * part / whole) if whole else 0}%"

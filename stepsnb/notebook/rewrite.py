"""Input transformers: `%%steps` becomes an awaited call, and `name << %%steps` keeps its result.

A cell that awaits leaves the kernel's loop free, so that clicks arrive while the run goes on. Only whole
statements of a cell are rewritten; within `%%time`, loops and functions the synchronous magic is called.
"""

import ast
import re
from typing import Any

MAGICS = ("steps", "agent")

_CALLS = re.compile(rf"get_ipython\(\)\.run_(?:cell|line)_magic\('(?:{'|'.join(MAGICS)})'")
_KEEP = re.compile(rf"\s*(?P<name>[^\W\d]\w*)\s*<<\s*%%(?P<rest>(?:{'|'.join(MAGICS)})\b.*)", re.S)
_AWAITED = b"await __import__('stepsnb.notebook').notebook.awaited_magic"


def keep_result(lines: list[str]) -> list[str]:
    """Turn `name << %%steps …` into `%%steps … --as name`; a cleanup transformer, so it sees the cell as typed."""
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if (match := _KEEP.match(line)) is None:
            return lines
        rewritten = f"%%{match['rest'].rstrip()} --as {match['name']}\n"
        return [*lines[:index], rewritten, *lines[index + 1 :]]
    return lines


class AwaitMagics:
    """The post transformer; it knows whether a cell is running, because a nested magic's body is not awaited."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._running: list[Any] = []

    def cell_started(self, info: Any) -> None:
        """Handle IPython's `pre_run_cell`."""
        self._running.append(info)

    def cell_ended(self, result: Any) -> None:
        """Handle IPython's `post_run_cell`: an empty cell ends without a start, a broken-off one without a result."""
        if result is None:
            self._running.clear()
        elif result.info in self._running:
            del self._running[self._running.index(result.info) :]

    def __call__(self, lines: list[str]) -> list[str]:
        """Rewrite the magic calls that are statements, or assigned by one, at the top level of a cell."""
        source = "".join(lines)
        if self._running or not self._shell.autoawait or not _CALLS.search(source):
            return lines
        try:
            tree = ast.parse(source)
        except SyntaxError:
            return lines  # IPython reports it
        rewritten = [line.encode() for line in source.split("\n")]  # as `ast` counts lines and columns
        for statement in reversed(tree.body):
            if isinstance(statement, ast.Expr | ast.Assign) and (call := _magic_call(statement.value)) is not None:
                line, start, end = call.lineno - 1, call.col_offset, call.func.end_col_offset
                old = rewritten[line]
                rewritten[line] = old[:start] + _AWAITED + old[end:]
        return b"\n".join(rewritten).decode().splitlines(keepends=True)


def _magic_call(node: ast.expr) -> Any:
    """Return the call of one of our magics as IPython writes it, or None."""
    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Name(id="get_ipython")), attr="run_cell_magic" | "run_line_magic"
            ),
            args=[ast.Constant(value=str(name)), *_],
        ) if name in MAGICS:
            return node
        case _:
            return None

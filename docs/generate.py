"""Writes the generated pages of the reference from the code they describe.

python docs/generate.py          # writes them
python docs/generate.py --check  # exits 1 when one is out of date
"""

import ast
import inspect
import sys
from pathlib import Path

from stepsnb import settings, store
from stepsnb.store import frames

REFERENCE = Path(__file__).parent / "reference"
TABLES = ("runs", "steps", "turns", "requests", "tool_calls", "cost", "questions", "transcript")

TABLES_HEAD = """# Tables

Each is a function of `stepsnb` that returns a DataFrame: `stepsnb.runs()`, `stepsnb.steps(run)`, … with `store=` for
another store than `.steps`. `%steps runs`, `%steps cost` and `%steps transcript RUN` show the same in a cell. Columns
and dtypes are the same for an empty store.

`stepsnb.sql("select …")` reads all of them in DuckDB, the `events` they are made of, and `information_schema`; it
changes nothing. Money is exact there (`DECIMAL`). Times are UTC. An unknown price is missing, never 0.
"""

NUMBERS_HEAD = """# Numbers

What decides how long, how large and how many, as `stepsnb.settings` has it. Units are in the names.

| name | value | what it is |
|---|---|---|
"""


def tables_page() -> str:
    """Describe each table by its function's docstring and its columns' dtypes."""
    parts = [TABLES_HEAD]
    for name in TABLES:
        module = getattr(frames, name)
        text = inspect.getdoc(getattr(store, f"{name}_df")) or ""
        summary, _, rest = text.partition("\n\n")
        meaning = " ".join(rest.partition("Raises:")[0].replace("Columns:", "").split())
        dtypes = ", ".join(f"`{column}` {dtype}" for column, dtype in module.COLUMNS.items())
        parts.append(f"## `{name}`\n\n{' '.join(summary.split())}\n\n{meaning}\n\nDtypes: {dtypes}.\n")
    return "\n".join(parts)


def numbers_page() -> str:
    """List the constants, each with the text below it."""
    body = ast.parse(inspect.getsource(settings)).body[1:]
    lines = []
    for node, below in zip(body, [*body[1:], None], strict=True):
        match node, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                lines.append(f"| `{name}` | `{_shown(getattr(settings, name))}` | {' '.join(text.split())} |")
            case ast.AnnAssign(target=ast.Name(id=name)), _:
                raise SystemExit(f"settings.{name} has no text below it that says what it is")
    return NUMBERS_HEAD + "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, frozenset):
        return " ".join(sorted(map(str, value)))
    return f"{value:,}" if isinstance(value, int) else str(value)


PAGES = {"tables.md": tables_page, "numbers.md": numbers_page}

if __name__ == "__main__":
    stale = []
    for name, page in PAGES.items():
        path = REFERENCE / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text(encoding="utf-8") != page():
                stale.append(name)
        else:
            path.write_text(page(), encoding="utf-8")
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `python docs/generate.py`")

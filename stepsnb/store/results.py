"""The table of results that steps may take over, read from the files that hold them."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

TABLE = "step_cache"


def load_results(db: "duckdb.DuckDBPyConnection", root: Path) -> None:
    """Fill the table `step_cache` with what is there now: one row for each artifact of each result."""
    rows = [row for file in sorted((root / "cache" / "steps").glob("*.json")) for row in _rows(file, root)]
    db.execute("BEGIN")
    db.execute(f"DELETE FROM {TABLE}")  # noqa: S608 - our own name
    if rows:
        names = ("hash", "inputs_digest", "artifact", "digest", "bytes", "run_id")
        given = {name: [row[index] for row in rows] for index, name in enumerate(names)}
        columns = ", ".join(f"unnest(${name})" for name in names)
        db.execute(f"INSERT INTO {TABLE} SELECT {columns}", given)
    db.execute("COMMIT")


def _rows(file: Path, root: Path) -> Iterator[tuple[str, str, str, str, int, str]]:
    """Yield the rows of one result; none for one that cannot be read, or of which an artifact is gone."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(file.read_bytes())
        outputs = [(str(each["name"]), str(each["digest"]), int(each["bytes"])) for each in found["outputs"]]
        if all((root / each["path"]).is_dir() for each in found["outputs"]):
            inputs = "\n".join(f"{name}={digest}" for name, digest in sorted(found["inputs"].items()))
            inputs_digest = hashlib.sha256(inputs.encode("utf-8", "surrogatepass")).hexdigest()
            for name, digest, size in outputs:
                yield str(found["hash"]), inputs_digest, name, digest, size, str(found["run_id"])

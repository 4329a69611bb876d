"""Whether pipelines load, and whether they hold what they assert."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..outcome import Outcome
from .options import PathLike
from .pipeline import LoadedPipeline, load

if TYPE_CHECKING:
    import pandas as pd


def validate(*pipelines: PathLike, vars: Mapping[str, object] | None = None) -> "pd.DataFrame":
    """Load pipelines and say what is wrong with them, all at once; nothing runs.

    Each is what `load` takes. One row a pipeline; columns: file, valid (bool), jobs and problems (lists of texts, a
    problem as `file:line:column: what; what instead`).
    """
    import pandas as pd

    rows = [validate_one(each, vars) for each in pipelines]
    return pd.DataFrame(rows, columns=["file", "valid", "jobs", "problems"]).astype({"file": "str", "valid": "bool"})


def validate_one(pipeline: PathLike, vars: Mapping[str, object] | None) -> dict[str, object]:
    """Return the row of one pipeline."""
    try:
        loaded = load(pipeline, vars=vars)
    except ConfigError as exc:
        return {"file": str(pipeline), "valid": False, "jobs": [], "problems": str(exc).splitlines()}
    return {"file": loaded.pipeline.file, "valid": True, "jobs": loaded.jobs, "problems": []}


def run_tests(
    *pipelines: "LoadedPipeline | PathLike",
    vars: Mapping[str, object] | None = None,
    answers: Mapping[str, str] | list[str] | None = None,
) -> "pd.DataFrame":
    """Run every job of pipelines, in order and in a throw-away store, and hold them to their asserts.

    Each is a loaded pipeline or what `load` takes; all are loaded before any runs. One row a job, and one for what a
    pipeline asserts of its jobs; columns, all texts: file, job (missing in that last row), outcome, error.

    Raises: what `load` raises.
    """
    import pandas as pd

    loaded = [each if isinstance(each, LoadedPipeline) else load(each, vars=vars) for each in pipelines]
    rows = [row for each in loaded for row in _test_one(each, answers)]
    return pd.DataFrame(rows, columns=["file", "job", "outcome", "error"], dtype="string")


def _test_one(loaded: LoadedPipeline, answers: Mapping[str, str] | list[str] | None) -> Iterator[dict[str, str | None]]:
    file = loaded.pipeline.file
    with tempfile.TemporaryDirectory(prefix="stepsnb-test-") as folder:
        for job in loaded.jobs:
            run = loaded.run(job, store=Path(folder), answers=answers)
            yield {"file": file, "job": job, "outcome": str(run.outcome), "error": run.error}
    problem = check_execution(loaded)
    if problem is not None:
        yield {"file": file, "job": None, "outcome": str(Outcome.FAILED), "error": problem}


def check_execution(loaded: LoadedPipeline) -> str | None:
    """Compare the jobs a pipeline's own `assert.execution` names with those that ran; None when they are the same."""
    asserted = loaded.pipeline.assert_
    if asserted is None or list(asserted.execution) == loaded.jobs:
        return None
    return f"assert.execution: expected {', '.join(asserted.execution)}; ran {', '.join(loaded.jobs)}"

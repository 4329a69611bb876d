"""What a job would do with each of its steps, before anything runs."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..config import FILES_ARTIFACT, GetStep, Pipeline
from ..errors import WorkspaceError
from ..events import Artifact
from ..plan import History, KeptResult, Node, PlanRow, build_plan, earlier_steps, explain
from ..run import StepCache
from ..settings import MATRIX_FILE_BYTES, PLAN_RUNS
from ..store import Store, job_events
from ..visible import visible
from ..workspace import ArtifactTree, Root, RunWorkspace, digest_path, gather_files
from .options import PathLike, current_folder, files_of, store_root

if TYPE_CHECKING:
    import pandas as pd

    from .pipeline import LoadedPipeline

_COLUMNS = ("step", "kind", "action", "reason", "path", "parent", "hash")


def plan(
    pipeline: "LoadedPipeline | PathLike",
    job: str | None = None,
    *,
    vars: Mapping[str, object] | None = None,
    files: Sequence[PathLike] | PathLike | None = None,
    store: PathLike | None = None,
) -> "pd.DataFrame":
    """Say of each step of a job whether it would run, be reused or be skipped, and why; nothing runs.

    `pipeline` is a loaded one, or what `load` takes. The frame is that of `LoadedPipeline.plan`.

    Raises: what `load` and `LoadedPipeline.plan` raise.
    """
    from .pipeline import LoadedPipeline, load

    if isinstance(pipeline, LoadedPipeline):
        return pipeline.plan(job, vars=vars, files=files, store=store)
    return load(pipeline, vars=vars).plan(job, files=files, store=store)


def plan_frame(
    pipeline: Pipeline,
    job: str | None,
    *,
    files: Sequence[PathLike] | PathLike | None = None,
    store: PathLike | None = None,
) -> "pd.DataFrame":
    """Return the plan of a job as a frame; see `LoadedPipeline.plan`."""
    import pandas as pd

    rows = plan_rows(pipeline, job, files=files, store=store)
    shown = {name: [_shown(getattr(row, name)) for row in rows] for name in _COLUMNS}
    return pd.DataFrame({name: pd.Series(values, dtype=pd.Series([""]).dtype) for name, values in shown.items()})


def plan_rows(
    pipeline: Pipeline,
    job: str | None,
    *,
    files: Sequence[PathLike] | PathLike | None = None,
    store: PathLike | None = None,
) -> list[PlanRow]:
    """Explain the plan of a job by what the store knows of its earlier runs.

    Raises: InputError for an unknown job or missing files, WorkspaceError for a `path` resource that is not there,
        StoreError when the store cannot be read.
    """
    root = store_root(store)
    planned = build_plan(pipeline, job)
    runs = job_events(Store(root), pipeline.file, planned.job.name, count=PLAN_RUNS)
    kept = {event.digest: root / event.path for events in runs for event in events if isinstance(event, Artifact)}
    steps = [step for events in runs for step in earlier_steps(planned, events)]
    cache = StepCache(root)

    def find_result(node: Node, inputs: Mapping[str, str]) -> KeptResult | None:
        found = cache.find(node, {name: _tree(name, digest) for name, digest in inputs.items()})
        if found is None:
            return None
        entry, trees = found
        return KeptResult(entry.run_id, {tree.name: tree.digest for tree in trees})

    known = _digests_now(pipeline, planned.walk(), root)
    if files:
        known[FILES_ARTIFACT] = _digest_of_files(files)
    return explain(planned, History(steps, find_result), known, read_file=partial(_read_kept, kept))


def _read_kept(kept: Mapping[str, Path], digest: str, path: str) -> bytes | None:
    """Return the start of a file of an artifact, as much as the values of a matrix may have; None when it is gone."""
    if digest not in kept:
        return None
    try:
        with Root(kept[digest]).open_read(path) as file:
            return file.read(MATRIX_FILE_BYTES + 1)
    except (OSError, WorkspaceError):
        return None


def _digests_now(pipeline: Pipeline, nodes: Iterable[Node], root: Path) -> dict[str, str]:
    """Return the digests of the artifacts whose content is there to be read: those of `path` resources."""
    found = {}
    for node in nodes:
        if isinstance(node.step, GetStep):
            resource = pipeline.resource(node.step.resource)
            if resource.type == "path":
                where = f"resource `{resource.name}`"
                found[node.name] = digest_path(
                    resource.source, where=where, base_dir=pipeline.base_dir, store_root=root
                )
    return found


def _digest_of_files(files: Sequence[PathLike] | PathLike) -> str:
    with TemporaryDirectory(prefix="stepsnb-") as folder:
        workspace = RunWorkspace(Path(folder), "plan")
        return gather_files(files_of({"files": files}), base_dir=current_folder(), workspace=workspace).digest


def _tree(name: str, digest: str) -> ArtifactTree:
    return ArtifactTree(name=name, path=Path(), digest=digest, files=(), bytes=0)


def _shown(value: str | None) -> str | None:
    return None if value is None else visible(value)

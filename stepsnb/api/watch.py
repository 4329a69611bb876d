"""Which jobs of a pipeline have something new to run with."""

from collections.abc import Iterator, Mapping

from ..config import GetStep, Pipeline
from ..engine import EngineTask, engine
from ..errors import InputError
from ..plan import Plan, build_plan
from ..resources import Version
from ..run.versions import JobVersions
from ..workspace import RunWorkspace
from .options import PathLike, store_root
from .pipeline import LoadedPipeline


class Watch:
    """Looks for new versions of what jobs wait for: `get` steps with `trigger: true`.

    A job is due once for each choice of versions; one whose run did not get as far as to fetch them is not due again
    until there are others.
    """

    def __init__(self, loaded: LoadedPipeline, job: str | None = None, *, store: PathLike | None = None) -> None:
        """Watch a job and those its versions go on to (`passed:`), or all jobs.

        Raises: InputError for an unknown job, or when no `get` step says `trigger: true`.
        """
        self._pipeline = loaded.pipeline
        self._root = store_root(store).absolute()
        plans = [build_plan(self._pipeline, name) for name in _in_order(self._pipeline, job)]
        self._plans = {plan.job.name: plan for plan in plans if any(step.trigger for step in _gets(plan))}
        if not self._plans:
            raise InputError(
                f"{self._pipeline.file}: nothing to watch; write `trigger: true` in the `get` steps that jobs wait for"
            )
        self._tried: dict[str, Mapping[str, Version]] = {}

    @property
    def jobs(self) -> list[str]:
        """Names of the jobs that wait for something, each after those whose versions it waits for."""
        return list(self._plans)

    def start_check(self, job: str) -> EngineTask[bool]:
        """Begin to look whether a job is due, and return at once.

        The task raises ResourceError for a check that goes wrong, and StoreError.
        """
        return engine().start(self._is_due(job))

    async def _is_due(self, job: str) -> bool:
        versions = JobVersions(self._pipeline, self._plans[job], RunWorkspace(self._root, "watch"), "watch")
        found = await versions.find_new()
        if not found or self._tried.get(job) == found:
            return False
        self._tried[job] = found
        return True


def _in_order(pipeline: Pipeline, job: str | None) -> list[str]:
    """Return the names of `job` and of those that name it in `passed:`, directly or not, in the order to run them."""
    passed = {each.name: _passed(build_plan(pipeline, each.name)) for each in pipeline.jobs}
    wanted = set(passed) if job is None else {pipeline.job(job).name}
    while job is not None and (more := {name for name, before in passed.items() if before & wanted} - wanted):
        wanted |= more
    order: list[str] = []

    def add(name: str) -> None:
        if name not in order:
            for before in sorted(passed[name], key=list(passed).index):
                add(before)
            order.append(name)

    for name in passed:
        add(name)
    return [name for name in order if name in wanted]


def _passed(plan: Plan) -> set[str]:
    return {job for step in _gets(plan) for job in step.passed}


def _gets(plan: Plan) -> Iterator[GetStep]:
    return (node.step for node in plan.walk() if isinstance(node.step, GetStep))

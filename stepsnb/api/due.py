"""Which jobs of a pipeline have something new to run with."""

import time
from collections.abc import Callable, Iterator, Mapping

from ..config import NEVER, GetStep, Pipeline
from ..engine import EngineTask, engine
from ..errors import InputError
from ..mcp import McpServers, ResourceCalls
from ..plan import Plan, build_plan
from ..resources import Version
from ..run.versions import JobVersions
from ..workspace import RunWorkspace, finish
from .options import PathLike, store_root
from .pipeline import LoadedPipeline


class Watch:
    """Looks for new versions of what jobs wait for: `get` steps with `trigger: true`.

    A job is due once for each choice of versions; one whose run did not get as far as to fetch them is not due again
    until there are others.
    """

    def __init__(
        self,
        loaded: LoadedPipeline,
        job: str | None = None,
        *,
        store: PathLike | None = None,
        interval_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch a job and those its versions go on to (`passed:`), or all jobs.

        A resource is checked again when its `check_every:` has passed, or `interval_s` where it says nothing.

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
        self._checks = CheckTimes(self._pipeline, interval_s, clock)
        self._tried: dict[str, Mapping[str, Version]] = {}

    @property
    def jobs(self) -> list[str]:
        """Names of the jobs that wait for something, each after those whose versions it waits for."""
        return list(self._plans)

    @property
    def pause_s(self) -> float | None:
        """Seconds until a resource that was checked before is to be checked again; None when there is none."""
        return self._checks.pause_s

    def start_check(self, job: str) -> EngineTask[bool]:
        """Begin to look whether a job is due, and return at once.

        The task raises ResourceError for a check that goes wrong, and StoreError.
        """
        return engine().start(self._is_due(job))

    async def _is_due(self, job: str) -> bool:
        servers = McpServers(self._pipeline.mcp_servers, self._pipeline.base_dir)
        workspace = RunWorkspace(self._root, "watch")
        versions = JobVersions(self._pipeline, self._plans[job], workspace, "watch", ResourceCalls(servers))
        try:
            found = await versions.find_new(self._checks.take_due)
        finally:
            await finish(servers.close())
        if not found or self._tried.get(job) == found:
            return False
        self._tried[job] = found
        return True


class CheckTimes:
    """When each resource was checked last, and so when it is to be checked again."""

    def __init__(self, pipeline: Pipeline, interval_s: float, clock: Callable[[], float]) -> None:
        """Take the time from `clock`, in seconds; `interval_s` is for resources without `check_every:`."""
        self._pipeline = pipeline
        self._interval_s = interval_s
        self._clock = clock
        self._checked: dict[str, float] = {}

    def take_due(self, name: str) -> bool:
        """Whether the resource is to be checked now; it then counts as checked."""
        left_s = self._left_s(name)
        if left_s is None or left_s > 0:
            return False
        self._checked[name] = self._clock()
        return True

    @property
    def pause_s(self) -> float | None:
        """Seconds until one of the resources is to be checked again; None when none was checked."""
        left = [left_s for name in self._checked if (left_s := self._left_s(name)) is not None]
        return max(min(left), 0.0) if left else None

    def _left_s(self, name: str) -> float | None:
        every = self._pipeline.resource(name).check_every
        if every == NEVER:
            return None
        if name not in self._checked:
            return 0.0
        period_s = self._interval_s if every is None else float(every)
        return self._checked[name] + period_s - self._clock()


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

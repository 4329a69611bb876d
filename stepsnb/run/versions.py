"""The versions of resources one run has: chosen together for all its gets, and remembered for the runs that follow."""

import asyncio
from collections.abc import Callable, Collection, Mapping

from ..config import GetStep, Pipeline, PutStep, Resource
from ..errors import ResourceError
from ..events import Emit, ResourceVersion
from ..plan import Plan
from ..resources import (
    FileVersionStore,
    JobRun,
    KeptVersions,
    Mode,
    ResourceType,
    ToolServers,
    Version,
    VersionStore,
    Wanted,
    choose_versions,
    has_new_version,
    read_params,
    refresh_versions,
    resolve_type,
    resource_scope,
    show_version,
    source_of,
    succeeded_runs,
    take_artifact_of,
    version_key,
)
from ..store import removed_runs
from ..workspace import ArtifactTree, RunWorkspace, StepDir


class JobVersions:
    """What one run of a job gets and publishes.

    The versions of all its `get` steps are chosen when the first of them runs, so that `every` moves on in lockstep
    and `passed:` means one run of the job before.
    """

    def __init__(
        self, pipeline: Pipeline, plan: Plan, workspace: RunWorkspace, run_id: str, servers: ToolServers
    ) -> None:
        self._pipeline = pipeline
        self._servers = servers
        self._job = plan.job.name
        self._gets = {node.name: node.step for node in plan.walk() if isinstance(node.step, GetStep)}
        self._workspace = workspace
        self._run_id = run_id
        self._store: VersionStore = FileVersionStore(workspace.root)
        cache = pipeline.workspace.cache if pipeline.workspace is not None else None
        keeps = cache is not None and cache.resources
        self._kept = KeptVersions(workspace.root, cache.max_entries if cache else None) if keeps else None
        self._choosing = asyncio.Lock()
        self._chosen: Mapping[str, Version | None] | None = None
        self._had: dict[str, dict[str, str]] = {}
        self._used: dict[str, dict[str, str]] = {}

    async def fetch(self, step: GetStep, emit: Emit) -> tuple[ArtifactTree, Version]:
        """Fetch the version this run has of a step's resource. Raises: ResourceError, WorkspaceError, StoreError."""
        resource = self._pipeline.resource(step.resource)
        async with self._choosing:
            if self._chosen is None:
                self._chosen = await self._choose()
        version = self._chosen[step.name] if step.name in self._chosen else await self._latest(step)
        tree, version = await take_artifact_of(
            self._type_of(resource),
            source_of(self._pipeline, resource),
            version,
            step.params,
            name=step.name,
            workspace=self._workspace,
            kept=self._kept,
        )
        self._had[step.name] = self._used[resource.name] = dict(version)
        order = self._order_of(resource.name, version)
        emit(ResourceVersion(resource=resource.name, version=dict(version), check_order=order))
        return tree, version

    async def publish(
        self, step: PutStep, directory: StepDir, emit: Emit, *, variables: Mapping[str, str] | None = None
    ) -> str | None:
        """Publish from a step's directory; return the version that made, in words.

        `variables` are the coordinates of a cell. Raises: ResourceError.
        """
        resource = self._pipeline.resource(step.resource)
        params = read_params(step.params, directory.root, where=f"put `{step.name}`")
        source = source_of(self._pipeline, resource)
        version = await self._type_of(resource, variables).publish(source, params, directory.path)
        if version is None:
            return None
        self._store.add(resource_scope(resource.type, source), [version], from_check=False)
        self._used[resource.name] = dict(version)
        emit(ResourceVersion(resource=resource.name, version=dict(version), from_check=False))
        return show_version(version)

    def recall(self, name: str, event: ResourceVersion) -> None:
        """Go on with a version that an earlier part of the run fetched or made in the step `name`."""
        if event.from_check:
            self._had[name] = dict(event.version)
        self._used[event.resource] = dict(event.version)

    def remember(self, *, has_succeeded: bool) -> None:
        """Keep what the run had, for `every` and for the jobs that name this one in `passed:`. Raises: StoreError."""
        if self._had or self._used:
            run = JobRun(run_id=self._run_id, has_succeeded=has_succeeded, gets=self._had, resources=self._used)
            self._store.add_run(self._key(self._job), run)
            self._drop_old_versions()

    def _drop_old_versions(self) -> None:
        """Forget the versions beyond `version_history:` of what this run used. Raises: StoreError."""
        for name in self._used:
            resource = self._pipeline.resource(name)
            keep = self._pipeline.version_history(resource)
            if keep is not None:
                needed = self._store.needed(removed_runs(self._workspace.root))
                followed = self._followed(name)
                self._store.drop_oldest(self._scope_of(name), keep=keep, needed=needed, followed=followed)

    def _followed(self, resource: str) -> set[str]:
        """Return the versions that jobs with `every` have come to: what follows them is still to be run."""
        found = set()
        for job in self._pipeline.jobs:
            steps = [step for each in job.plan for step in each.walk() if isinstance(step, GetStep)]
            last = self._store.runs(self._key(job.name))[-1:]
            for step in steps:
                if step.resource == resource and step.version == "every" and last and step.name in last[0].gets:
                    found.add(version_key(last[0].gets[step.name]))
        return found

    async def find_new(self, is_due: Callable[[str], bool] = lambda name: True) -> Mapping[str, Version]:
        """Check what the job waits for: return the versions it would run with when one with `trigger: true` is new.

        Only resources that `is_due` says so of are checked; of the others what is known counts. Empty when there is
        nothing new, or nothing to run with yet. Raises: ResourceError, StoreError.
        """
        triggers = [name for name, step in self._gets.items() if step.trigger]
        wanted, chosen = await self._search(watched=triggers, is_due=is_due)
        if chosen is None:
            return {}
        last = {name: version for name in triggers if (version := wanted[name].last_used) is not None}
        return chosen if has_new_version({name: chosen[name] for name in triggers}, last) else {}

    async def _choose(self) -> Mapping[str, Version | None]:
        wanted, chosen = await self._search()
        if chosen is None:
            raise ResourceError(f"job `{self._job}`: {self._why_nothing(wanted)}")
        return {name: chosen.get(name) for name in self._gets}

    async def _search(
        self, watched: Collection[str] = (), is_due: Callable[[str], bool] = lambda name: True
    ) -> tuple[Mapping[str, Wanted], Mapping[str, Version] | None]:
        """Look for new versions and choose; the steps `watched` take part even if any content would do for them."""
        steps = {name: step for name, step in self._gets.items() if name in watched or self._needs_choice(step)}
        for name in dict.fromkeys(step.resource for step in steps.values()):
            if not is_due(name):
                continue
            resource = self._pipeline.resource(name)
            await refresh_versions(self._type_of(resource), source_of(self._pipeline, resource), self._store)
        before = self._store.runs(self._key(self._job))
        last = before[-1].gets if before else {}
        jobs = {job: self._key(job) for step in steps.values() for job in step.passed}
        wanted = {
            name: Wanted(
                resource=step.resource,
                mode=self._had.get(name, self._mode_of(step)),
                known=self._store.known(self._scope_of(step.resource)),
                last_used=last.get(name),
                passed=step.passed,
            )
            for name, step in steps.items()
        }
        return wanted, choose_versions(wanted, succeeded_runs(self._store, jobs))

    def _needs_choice(self, step: GetStep) -> bool:
        """Whether a version has to be known before anything can be fetched."""
        needs_check = self._type_of(self._pipeline.resource(step.resource)).needs_check
        return needs_check or bool(step.passed) or self._mode_of(step) != "latest"

    def _mode_of(self, step: GetStep) -> Mode:
        """Return how a step chooses; its own pin goes before that of its resource."""
        pinned = None if step.pin is not None else self._pipeline.resource(step.resource).version
        return step.version if pinned is None else pinned

    def _why_nothing(self, wanted: Mapping[str, Wanted]) -> str:
        empty = [name for name, each in wanted.items() if not each.known]
        if empty:
            return f"`check` of {', '.join(f'`{name}`' for name in empty)} found no version yet"
        jobs = sorted({job for each in wanted.values() for job in each.passed})
        return f"no version has passed {', '.join(f'`{job}`' for job in jobs)} yet; run that first"

    async def _latest(self, step: GetStep) -> Version | None:
        """Return the newest version for a step that is not in the plan, such as one of a cell."""
        resource = self._pipeline.resource(step.resource)
        pinned = step.pin or resource.version
        if pinned is not None or not self._type_of(resource).needs_check:
            return pinned
        await refresh_versions(self._type_of(resource), source_of(self._pipeline, resource), self._store)
        known = [each.version for each in self._store.known(self._scope_of(resource.name)) if each.from_check]
        return known[-1] if known else None

    def _type_of(self, resource: Resource, variables: Mapping[str, str] | None = None) -> ResourceType:
        return resolve_type(
            self._pipeline,
            resource,
            store_root=self._workspace.root,
            servers=self._servers,
            variables=variables,
            run_id=self._run_id,
        )

    def _scope_of(self, name: str) -> str:
        resource = self._pipeline.resource(name)
        return resource_scope(resource.type, source_of(self._pipeline, resource))

    def _order_of(self, resource: str, version: Version) -> int:
        """Return the check order of a version, 0 where no check has listed it."""
        key = version_key(version)
        known = self._store.known(self._scope_of(resource))
        return next((each.check_order for each in known if version_key(each.version) == key), 0)

    def _key(self, job: str) -> str:
        return f"{self._pipeline.file}:{job}"

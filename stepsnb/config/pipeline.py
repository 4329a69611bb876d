"""A pipeline: everything one file says."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from ..errors import InputError
from ..suggest import unknown_name
from . import unsupported
from .agent import Agent
from .assertion import PipelineAssert
from .concept import Complaint, Concept
from .defaults import Defaults, PriceEntry
from .job import Job
from .mcp_server import McpServer
from .preflight import PreflightSpec
from .profiles import profile_agents
from .resource import Resource
from .resource_type import ResourceType
from .scalars import ModelName
from .task_entry import TaskEntry
from .unsupported import Unsupported
from .workspace import WorkspaceSpec


class Pipeline(Concept):
    """A loaded pipeline.

    `file` is its name in messages, relative paths in it start at `base_dir`, and `source_text` is its YAML.
    """

    unsupported_keys: ClassVar[Unsupported] = unsupported.PIPELINE

    loader_fields: ClassVar[frozenset[str]] = frozenset({"base_dir", "file", "source_text"})

    file: SkipJsonSchema[str] = "<code>"
    base_dir: SkipJsonSchema[Path] = Path()
    source_text: SkipJsonSchema[str] = Field(default="", repr=False)
    defaults: Defaults = Defaults()
    prices: dict[ModelName, PriceEntry] = Field(default={}, description="US dollars per million tokens, by model.")
    resource_types: tuple[ResourceType, ...] = Field(default=(), description="Beside the built-in `git` and `path`.")
    resources: tuple[Resource, ...] = ()
    mcp_servers: tuple[McpServer, ...] = Field(default=(), description="Servers whose tools agents can be granted.")
    agents: tuple[Agent, ...] = ()
    tasks: tuple[TaskEntry, ...] = Field(default=(), description="Tasks that steps refer to by name.")
    jobs: tuple[Job, ...]
    workspace: WorkspaceSpec | None = None
    assert_: PipelineAssert | None = Field(default=None, validation_alias="assert")

    @property
    def every_agent(self) -> tuple[Agent, ...]:
        """The agents of `agents:`, and the built-in ones that have no entry there."""
        named = {agent.name for agent in self.agents}
        return (*self.agents, *(agent for agent in profile_agents() if agent.name not in named))

    def agent(self, name: str) -> Agent:
        """Return the agent called `name`. Raises: InputError when there is none."""
        for agent in self.every_agent:
            if agent.name == name:
                return agent
        raise InputError(f"{self.file}: {unknown_name('agent', name, (agent.name for agent in self.agents))}")

    def resource(self, name: str) -> Resource:
        """Return the resource called `name`. Raises: InputError when there is none."""
        for resource in self.resources:
            if resource.name == name:
                return resource
        raise InputError(f"{self.file}: {unknown_name('resource', name, (each.name for each in self.resources))}")

    def resource_type(self, name: str) -> ResourceType | None:
        """Return the type of the user's own called `name`; None for a built-in one."""
        return next((each for each in self.resource_types if each.name == name), None)

    def job(self, name: str | None = None) -> Job:
        """Return the job called `name`, or the only one. Raises: InputError when that is not one job."""
        if name is None and len(self.jobs) == 1:
            return self.jobs[0]
        for job in self.jobs:
            if job.name == name:
                return job
        names = [job.name for job in self.jobs]
        if name is None:
            raise InputError(f"{self.file}: has {len(names)} jobs, so name one: {', '.join(names)}")
        raise InputError(f"{self.file}: {unknown_name('job', name, names)}")

    def preflight(self, agent: Agent) -> PreflightSpec | None:
        """Return how an agent's models are probed before a run, None when they are not."""
        default = self.defaults.preflight or PreflightSpec()
        is_on = default.is_on if agent.preflight is None else agent.preflight
        return default if is_on else None

    def run_history(self, job: Job) -> int | None:
        """Return how many finished runs of a job are kept, None for all."""
        return job.run_history if job.run_history is not None else self.defaults.run_history

    def version_history(self, resource: Resource) -> int | None:
        """Return how many versions of a resource are kept, None for all."""
        return resource.version_history if resource.version_history is not None else self.defaults.version_history

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a pipeline that has nothing to run, and an assert on jobs it has not."""
        names = [job.name for job in self.jobs]
        if not names:
            yield Complaint(("jobs",), "`jobs:` is empty; a pipeline has at least one job", ("jobs",))
        for index, name in enumerate(self.assert_.execution if self.assert_ else ()):
            if name not in names:
                yield Complaint(("assert", "execution", index), unknown_name("job", name, names), ("jobs",))

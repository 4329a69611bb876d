"""Makes sure, before the first step of a run does anything, that models and MCP servers of its agents are there."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agent import is_outage
from ..config import (
    Agent,
    AgentGrant,
    AgentStep,
    GetStep,
    Pipeline,
    PreflightSpec,
    PutStep,
    ServerToolCall,
)
from ..effects import Attempt, EffectFailed, agent_layers, attempts_layer, policy_for, run_effect
from ..errors import InputError, ProviderError, StepsError
from ..events import Note
from ..llm import PROBES, Probes, Target, can_be_probed
from ..mcp import ResourceCalls
from ..plan import Node, Plan
from .models import resolve_agent

if TYPE_CHECKING:
    from .context import RunContext


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """What came of looking at one source of an agent.

    `index` 0 is its own, the others are those of `fallback:`. `failure` is why it cannot be used, `is_down` whether
    another source may take its place, `is_late` whether it said nothing at all; `note` is what is to be said of one
    that can. `is_trusted` says that it was not asked again, and `is_probed` is off where there is no server to ask.
    """

    agent: str
    index: int
    target: Target | None
    failure: str | None = None
    is_down: bool = False
    is_late: bool = False
    note: str | None = None
    is_trusted: bool = False
    is_probed: bool = True


async def check_source(
    pipeline: Pipeline, agent: Agent, index: int, spec: PreflightSpec, *, is_patient: bool, probes: Probes = PROBES
) -> SourceCheck:
    """Look at one source of an agent; `is_patient` tries one that fails as often as a request would be."""
    source = (agent.source, *(each.source for each in agent.fallback))[index]
    try:
        target = resolve_agent(pipeline, agent, source=source)
    except InputError as exc:
        return SourceCheck(agent.name, index, None, failure=str(exc))
    if not can_be_probed(target):
        return SourceCheck(agent.name, index, target, is_probed=False)
    is_trusted, note = probes.trusted(target, spec.cache_s)
    if is_trusted:
        return SourceCheck(agent.name, index, target, note=note, is_trusted=True)
    policy = policy_for("llm", *agent_layers("llm", agent.retry), attempts_layer(agent.attempts if is_patient else 1))

    async def probe(now: Attempt) -> str | None:
        return await probes.ask(target)

    try:
        async with asyncio.timeout(spec.timeout_s):
            note = await run_effect(policy, probe, where=f"model `{target.label}`")
    except TimeoutError:
        failure = f"model `{target.label}`: it was not there within {spec.timeout_s:g} s (`preflight.timeout:`)"
        return SourceCheck(agent.name, index, target, failure=failure, is_down=True, is_late=True)
    except (EffectFailed, ProviderError) as exc:
        return SourceCheck(agent.name, index, target, failure=str(exc), is_down=is_outage(exc))
    return SourceCheck(agent.name, index, target, note=note)


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is wrong, in words, and whether the step that is about to begin would find it out at once."""

    text: str
    shows_by_itself: bool = False


class Preflight:
    """The probes of one run: each agent once, when the first step is about to run that is not reused.

    So a run that finds everything done sends nothing, and one that does anything knows first that it can go on.
    """

    def __init__(self, run: "RunContext", plan: Plan) -> None:
        self._run = run
        self._waiting = {node.path: node for node in plan.walk() if not node.is_hook}
        self._lock = asyncio.Lock()
        self._seen: set[str] = set()
        self._problems: list[str] = []

    def spare(self, node: Node) -> None:
        """Learn that a step of the plan need not run."""
        self._waiting.pop(node.path, None)

    async def refusal(self, node: Node) -> str | None:
        """Say why a step must not run: it, or one that is still to come, has no model; None when all is well.

        A hook is never refused: what it cleans up is more than what it could save.
        """
        if node.is_hook:
            return None
        async with self._lock:  # steps at the same time wait for the same probes
            nodes = [*self._waiting.values(), node]
            agents = agents_in(self._run.pipeline, nodes)
            new = [agent for name, agent in agents.items() if name not in self._seen]
            await self._check(new, nodes, node)
            self._waiting.clear()  # only now: a step that is called off during the probes leaves them to the next one
        if not self._problems:
            return None
        return f"preflight: {'; '.join(self._problems)}; no step was begun (`preflight: false` leaves the probe out)"

    async def _check(self, agents: Sequence[Agent], nodes: Sequence[Node], first: Node) -> None:
        """Look at agents at the same time; what is wrong with them is kept. `first` is the step that is to begin."""
        begins = first.step.agent if isinstance(first.step, AgentStep) else None
        models = (self._problem_of(agent, begins=agent.name == begins) for agent in agents)
        servers = (self._problem_of_servers(agent, nodes) for agent in agents)
        new_tools = self._new_tools(nodes)
        tools = (self._problem_of_tool(*each) for each in new_tools)
        problems = [each for each in await asyncio.gather(*models, *servers, *tools) if each is not None]
        if not all(each.shows_by_itself for each in problems):
            self._problems += dict.fromkeys(each.text for each in problems)
        self._seen.update(agent.name for agent in agents)
        self._seen.update(place for place, *_ in new_tools)

    async def _problem_of(self, agent: Agent, *, begins: bool) -> "_Problem | None":
        """Find the first source of an agent that is there, and begin with that one in this run.

        What is wrong with the agent that `begins` shows by itself, and is recorded with its requests, unless it has
        another source or its server says nothing for so long.
        """
        spec = self._run.pipeline.preflight(agent)
        if spec is None or (self._run.cassette is not None and self._run.cassette.is_replay):
            return None
        count, failures = 1 + len(agent.fallback), list[str]()
        for index in range(count):
            is_patient = index == count - 1 and not (begins and count == 1)
            checked = await check_source(self._run.pipeline, agent, index, spec, is_patient=is_patient)
            if checked.failure is None:
                self._tell(agent, checked, failures)
                return None
            failures.append(checked.failure)
            if not checked.is_down:
                break
        reasons = ", and then ".join(failures)
        text = reasons if reasons.startswith("agent ") else f"agent `{agent.name}`: {reasons}"
        return _Problem(text, shows_by_itself=begins and count == 1 and not checked.is_late)

    async def _problem_of_servers(self, agent: Agent, nodes: Sequence[Node]) -> "_Problem | None":
        """Have the MCP servers of an agent say which tools they have, and see that those it is granted are there."""
        if self._run.pipeline.preflight(agent) is None:
            return None
        asked = [node.step for node in nodes if isinstance(node.step, AgentStep) and node.step.agent == agent.name]
        selections = [step.tools for step in asked]
        # One that only other agents call has all it is granted.
        is_whole = not selections or None in selections
        selected = None if is_whole else [name for tools in selections for name in tools or ()]
        try:
            await self._run.servers.tools_of(agent.mcp_grants(selected), retry=agent.retry)
        except StepsError as exc:
            return _Problem(f"agent `{agent.name}`: {exc}")
        return None

    def _new_tools(self, nodes: Sequence[Node]) -> list[tuple[str, str, ServerToolCall]]:
        """Return the tools that resources of the steps are made of, each once, with its place and its server."""
        defaults, pipeline = self._run.pipeline.defaults.preflight, self._run.pipeline
        if defaults is not None and not defaults.is_on:
            return []
        found = {}
        for node in nodes:
            for place, server, call in _tools_of(pipeline, node):
                if place not in self._seen:
                    found[place] = (place, server, call)
        return list(found.values())

    async def _problem_of_tool(self, place: str, server: str, call: ServerToolCall) -> "_Problem | None":
        """See that a server has a tool of a resource type, and that it takes the arguments."""
        problem = await ResourceCalls(self._run.servers).problem_of(server, call.tool, call.args)
        return None if problem is None else _Problem(f"{place}: {problem}")

    def _tell(self, agent: Agent, checked: SourceCheck, failures: Sequence[str]) -> None:
        if checked.note is not None and not checked.is_trusted:
            self._run.recorder.emit(Note(text=f"agent `{agent.name}`: {checked.note}"))
        if checked.index and checked.target is not None:
            self._run.sources_passed[agent.name] = max(checked.index, self._run.sources_passed.get(agent.name, 0))
            text = f"agent `{agent.name}`: {'; '.join(failures)}; so `{checked.target.label}` is asked in its place"
            self._run.recorder.emit(Note(text=text))


def agents_of(pipeline: Pipeline, node: Node) -> Iterator[Agent]:
    """Give the agents that a step asks, with those they call, each once; none that only the running step can name.

    Left out are those that may never be needed: who repairs a task, and who answers questions in people's place.
    """
    if not isinstance(node.step, AgentStep):
        return
    waiting, seen = [node.step.agent], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            agent = pipeline.agent(name)
        except StepsError:
            continue
        yield agent
        waiting += [grant.agent for grant in agent.grants if isinstance(grant, AgentGrant)]


def _tools_of(pipeline: Pipeline, node: Node) -> Iterator[tuple[str, str, ServerToolCall]]:
    """Give the tools a step calls for its resource, each with its place and its server.

    One with a version by value may do with what is kept, and has none.
    """
    step = node.step
    if not isinstance(step, GetStep | PutStep) or (isinstance(step, GetStep) and step.pin is not None):
        return
    resource = pipeline.resource(step.resource)
    made = pipeline.resource_type(resource.type)
    tools = None if made is None else made.mcp
    if tools is None:
        return
    calls = {"check": tools.check, "in": tools.in_} if isinstance(step, GetStep) else {"out": tools.out}
    for key, call in calls.items():
        if call is not None:
            yield f"resource type `{resource.type}`, `{key}:`", tools.server, call


def agents_in(pipeline: Pipeline, nodes: Iterable[Node]) -> dict[str, Agent]:
    """Return the agents of some steps by name, each once, in the order of the steps."""
    return {agent.name: agent for node in nodes for agent in agents_of(pipeline, node)}

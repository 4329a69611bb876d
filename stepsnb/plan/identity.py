"""What of a step is part of its identity.

Everything is that shapes what a step does; what only bounds, repeats or reports it is not: changing a deadline must
not run finished work again. A setting at its default is as good as not there, so that a key which a later version
brings leaves the hashes of old pipelines as they are.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from ..config import (
    Agent,
    AgentGrant,
    AgentStep,
    ApprovalStep,
    EnsembleStep,
    GetStep,
    McpGrant,
    Pipeline,
    PutStep,
    Step,
    TaskStep,
)
from ..settings import MAX_CONTEXT_BYTES, MAX_TURNS
from .fingerprint import Fingerprint, take_fingerprint

_BOUNDS = frozenset({"attempts", "timeout_s", "retry", "fallback", "budget", "preflight", "max_questions"})
_ON_THE_SIDE = frozenset({"where", "deferred", "volatile"})
_NODES = frozenset({"steps", "step", "block", "on_success", "on_failure", "on_error", "on_abort", "ensure"})

NOT_OF_STEP = _BOUNDS | _ON_THE_SIDE | {"trigger", "max_in_flight"}
"""Fields of a step that are no part of its identity; nor are `limit` and `fail_fast` of a block."""

NOT_OF_AGENT = (
    _BOUNDS
    | _ON_THE_SIDE
    | {
        "budget",
        "compact_after_tokens",
        "context_window",
        "delegate_budget_percent",
        "fallback",
    }
)
"""Fields of an agent that are no part of the identity of its steps; its description is part of who calls it."""

NOT_OF_TOOL = frozenset({"timeout_s", "retry", "default", "answered_by", "max_questions"})
NOT_OF_SERVER = frozenset({"auth"})
NOT_OF_FIX = frozenset({"attempts", "timeout_s"})
NOT_OF_RESOURCE = frozenset({"where", "check_every", "version_history"})

_TAKEN_APART = frozenset({"prompt", "messages", "env", "tools", "fix", "max_turns", "max_context_bytes"})
_STEP_REST = NOT_OF_STEP | _NODES | _TAKEN_APART | {"axes"}
_AGENT_REST = NOT_OF_AGENT | _TAKEN_APART | {"name", "description", "source"}


class Identities:
    """Takes fingerprints of the steps of one pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._default_model = pipeline.defaults.model
        self._agents = {agent.name: agent for agent in pipeline.every_agent}
        self._resources = {resource.name: resource for resource in pipeline.resources}
        self._servers = {server.name: server for server in pipeline.mcp_servers}
        self._types = {each.name: each for each in pipeline.resource_types}
        self._agent_parts: dict[str, dict[str, Any]] = {}

    def of(self, step: Step, coordinates: Mapping[str, str] | None = None) -> Fingerprint:
        """Take the fingerprint of one step, without the steps inside it and its hooks.

        A cell of a matrix is identified by its coordinates too: cells that say the same are wanted each.
        """
        parts: dict[str, Any] = {"kind": step.kind}
        match step:
            case AgentStep():
                parts.update(self._agent_step(step))
            case TaskStep():
                parts["run"] = step.run
                parts.update((f"env.{name}", value) for name, value in step.env.items())
                if step.fix is not None:
                    parts["fix"] = {**_dump(step.fix, NOT_OF_FIX), "of": self._agent(step.fix.agent)}
            case GetStep() | PutStep():
                parts.update(self._resource(step.resource))
            case EnsembleStep():
                parts.update(_dump(step.block, frozenset({"agents"})))
                if step.judge is not None:
                    parts["judge"] = self._agent(step.judge)
            case ApprovalStep():
                parts.update(_dump(step.block, NOT_OF_STEP))
        parts.update(_dump(step, _STEP_REST))
        if coordinates:
            parts["coordinates"] = dict(coordinates)
        elif isinstance(step, TaskStep | AgentStep | PutStep) and step.axes is not None:
            parts["across"] = [_dump(axis, _ON_THE_SIDE) for axis in step.axes]
        return take_fingerprint(parts)

    def _agent_step(self, step: AgentStep) -> Iterator[tuple[str, Any]]:
        for index, message in enumerate(step.messages):
            yield f"messages[{index}]", message
        agent = self._agents[step.agent]
        parts = self._agent(step.agent)
        tools = parts["tools"]
        if step.tools is not None:
            own = {each.name: self._tool(each) for each in step.tools if not isinstance(each, str)}
            tools = {name: own.get(name) or self._granted(agent, name) for name in step.tool_names}
        yield from parts.items()
        yield "max_turns", _first(step.max_turns, agent.max_turns, MAX_TURNS)
        yield "max_context_bytes", _first(step.max_context_bytes, agent.max_context_bytes, MAX_CONTEXT_BYTES)
        yield "tools", list(tools)
        for name, tool in tools.items():
            yield f"tools.{name}", tool
        for name, value in step.env.items():
            yield f"env.{name}", value

    def _agent(self, name: str) -> dict[str, Any]:
        """Return what an agent is, whoever uses it; each is worked out once."""
        known = self._agent_parts.get(name)
        if known is None:
            known = self._agent_parts[name] = self._agent_anew(self._agents[name])
        return known

    def _agent_anew(self, agent: Agent) -> dict[str, Any]:
        parts = {
            "model": agent.source.model or self._default_model,
            # An endpoint or a client of the user's is part of which model is meant.
            "endpoint": agent.source.endpoint,
            "client": agent.source.client,
            "max_turns": _first(agent.max_turns, MAX_TURNS),
            "max_context_bytes": _first(agent.max_context_bytes, MAX_CONTEXT_BYTES),
        }
        parts = {name: value for name, value in parts.items() if value is not None}
        tools = {grant.name: self._tool(grant) for grant in agent.grants}
        env = {f"env.{name}": value for name, value in agent.env.items()}
        return parts | _dump(agent, _AGENT_REST) | env | {"tools": tools}

    def _granted(self, agent: Agent, name: str) -> dict[str, Any] | None:
        grant = agent.grant_of(name)
        return None if grant is None else self._tool(grant)

    def _tool(self, grant: BaseModel) -> dict[str, Any]:
        tool = _dump(grant, NOT_OF_TOOL)
        if isinstance(grant, AgentGrant):
            child = self._agents[grant.agent]
            tool |= {"description": grant.description or child.description, "of": self._agent(grant.agent)}
        if isinstance(grant, McpGrant):
            tool["of"] = _dump(self._servers[grant.mcp], NOT_OF_SERVER)
        return tool

    def _resource(self, name: str) -> Iterator[tuple[str, Any]]:
        resource = self._resources[name]
        for key, value in _dump(resource, NOT_OF_RESOURCE).items():
            yield f"resource.{key}", value
        if resource.type in self._types:
            own = self._types[resource.type]
            yield "resource_type", _dump(own, _ON_THE_SIDE | {"mcp"})
            if own.mcp is not None:
                calls = {"check": own.mcp.check, "in": own.mcp.in_, "out": own.mcp.out}
                tools = {verb: _dump(call, NOT_OF_TOOL) for verb, call in calls.items() if call is not None}
                yield "resource_type.mcp", tools | {"of": _dump(self._servers[own.mcp.server], NOT_OF_SERVER)}


def _dump(model: BaseModel, without: frozenset[str]) -> dict[str, Any]:
    """Return the settings of a model that are not at their defaults, by the names they have in YAML."""
    labels = _labels(type(model))
    dumped = model.model_dump(exclude_defaults=True, exclude=set(without))
    return {labels[name]: value for name, value in dumped.items()}


@cache
def _labels(model: type[BaseModel]) -> dict[str, str]:
    return {name: str(field.validation_alias or name) for name, field in model.model_fields.items()}


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)

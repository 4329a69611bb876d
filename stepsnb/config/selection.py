"""The tools a step has: what it selects of its agent's grant, what it brings along, what it says about their calls."""

from collections.abc import Iterator, Mapping

from ..suggest import unknown_name
from .agent import Agent
from .concept import Complaint
from .grants import BUILTIN_TOOLS, BuiltinGrant, CustomGrant, Grant, McpGrant, PythonGrant
from .steps import AgentStep

_READS = "read_file"


def tool_complaints(step: AgentStep, agent: Agent) -> Iterator[Complaint]:
    """Refuse a selection that widens the grant, and what could never happen with the tools the step has."""
    for index, each in enumerate(step.tools or ()):
        if isinstance(each, str) and agent.grant_of(each) is None:
            yield Complaint(("tools", index), _ungranted(each, agent), ("tools",))
        elif isinstance(each, CustomGrant) and agent.grant_of(each.name) is not None:
            text = f"agent `{agent.name}` grants a tool `{each.name}` already; give this one another name"
            yield Complaint(("tools", index, "name"), text, ("tools",))
    tools = _tools_of(step, agent)
    yield from _call_complaints(step, agent, tools)
    if step.context_paths and not isinstance(tools.get(_READS), BuiltinGrant):
        where = "the `tools:` of this step" if agent.grant_of(_READS) else f"the `tools:` of agent `{agent.name}`"
        text = f"`context_paths:` needs the tool `{_READS}`; add it to {where}"
        yield Complaint(("context_paths",), text, ("tools",))


def _tools_of(step: AgentStep, agent: Agent) -> dict[str, Grant]:
    """Return the tools of a step by name; `SERVER__*` stands for all that an MCP server has."""
    if step.tools is None:
        return {name: grant for name in agent.tool_names if (grant := agent.grant_of(name))}
    own: dict[str, Grant] = {each.name: each for each in step.tools if isinstance(each, CustomGrant)}
    selected = (each for each in step.tools if isinstance(each, str))
    return {name: grant for name in selected if (grant := agent.grant_of(name))} | own


def _tool_called(name: str, tools: Mapping[str, Grant]) -> Grant | None:
    whole = (grant for grant in tools.values() if isinstance(grant, McpGrant) and grant.chosen is None)
    return tools.get(name) or next((grant for grant in whole if grant.names[0] in tools and grant.covers(name)), None)


def _call_complaints(step: AgentStep, agent: Agent, tools: Mapping[str, Grant]) -> Iterator[Complaint]:
    """Refuse asserted calls that the model cannot make."""
    for index, call in enumerate(step.assert_.tool_calls if step.assert_ else ()):
        at = ("assert", "tool_calls", index)
        tool = _tool_called(call.name, tools)
        if tool is None and call.name in _brought_by(step):
            continue
        if tool is None:
            if agent.grant_of(call.name) is not None:
                text = f"`{call.name}` can never be called; add it to the `tools:` of this step"
            else:
                text = _ungranted(call.name, agent)
            yield Complaint((*at, "name"), text, ("tools", "assert"))
        elif isinstance(tool, PythonGrant | CustomGrant):
            for name in call.args.keys() & tool.args.keys():
                text = f"`{name}` of `{call.name}` is pinned, the model never gives it; assert on other arguments"
                yield Complaint((*at, "args", name), text, ("tools", "assert"))


def _brought_by(step: AgentStep) -> tuple[str, ...]:
    """Return the tools that keys of the step bring along."""
    brought = {"verdict": step.verdicts, "submit_output": step.output, "read_step": step.context}
    return tuple(name for name, key in brought.items() if key)


def _ungranted(name: str, agent: Agent) -> str:
    if name in BUILTIN_TOOLS:
        granted = ", ".join(sorted(agent.tool_names)) or "none"
        return f"agent `{agent.name}` does not grant `{name}`; add it to the agent's own `tools:`; granted: {granted}"
    return unknown_name("tool", name, agent.tool_names)

"""The tools a step has: what it selects of its agent's grant, what it brings along, what it says about their calls."""

from collections.abc import Iterator, Mapping

from ..suggest import unknown_name
from .agent import Agent
from .concept import Complaint
from .grants import BUILTIN_TOOLS, DEFAULT_TOOLS, BuiltinGrant, CustomGrant, Grant, PythonGrant
from .steps import AgentStep

_READS = "read_file"


def tool_complaints(step: AgentStep, agent: Agent) -> Iterator[Complaint]:
    """Refuse a selection that widens the grant, and what could never happen with the tools the step has."""
    granted = _granted(agent)
    for index, each in enumerate(step.tools or ()):
        if isinstance(each, str) and each not in granted:
            yield Complaint(("tools", index), _ungranted(each, agent), ("tools",))
        elif isinstance(each, CustomGrant) and each.name in granted:
            text = f"agent `{agent.name}` grants a tool `{each.name}` already; give this one another name"
            yield Complaint(("tools", index, "name"), text, ("tools",))
    tools = _tools_of(step, granted)
    yield from _call_complaints(step, agent, tools)
    if step.context_paths and not isinstance(tools.get(_READS), BuiltinGrant):
        where = "the `tools:` of this step" if _READS in granted else f"the `tools:` of agent `{agent.name}`"
        text = f"`context_paths:` needs the tool `{_READS}`; add it to {where}"
        yield Complaint(("context_paths",), text, ("tools",))


def _granted(agent: Agent) -> dict[str, Grant]:
    if agent.tools is None:
        return {name: BuiltinGrant(builtin=name) for name in DEFAULT_TOOLS}
    return {grant.name: grant for grant in agent.tools}


def _tools_of(step: AgentStep, granted: Mapping[str, Grant]) -> dict[str, Grant]:
    if step.tools is None:
        return dict(granted)
    own: dict[str, Grant] = {each.name: each for each in step.tools if isinstance(each, CustomGrant)}
    return {name: granted[name] for name in step.tools if isinstance(name, str) and name in granted} | own


def _call_complaints(step: AgentStep, agent: Agent, tools: Mapping[str, Grant]) -> Iterator[Complaint]:
    """Refuse asserted calls that the model cannot make."""
    for index, call in enumerate(step.assert_.tool_calls if step.assert_ else ()):
        at = ("assert", "tool_calls", index)
        tool = tools.get(call.name)
        if tool is None and call.name in _brought_by(step):
            continue
        if tool is None:
            if call.name in agent.tool_names:
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

"""Builds the tools an agent is granted, and of these the ones a step selects."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ..config import (
    DEFAULT_TOOLS,
    AgentGrant,
    BuiltinGrant,
    CustomGrant,
    Grant,
    McpGrant,
    PythonGrant,
    RetryLayers,
    wrong_name,
)
from ..effects import EffectKind, RetryPolicy, agent_layers, policy_for
from ..errors import InputError
from ..suggest import unknown_name
from .ask_user import ask_user_tool
from .base import Tool
from .custom_tool import custom_tool
from .edit_file import edit_file_tool
from .find import Functions, find_function
from .list_dir import list_dir_tool
from .python_tool import python_tool
from .read_file import read_file_tool
from .run_shell import run_shell_tool
from .search_files import search_files_tool
from .sub_agent import Spawn, sub_agent_tool
from .web_fetch import web_fetch_tool
from .write_file import write_file_tool

_BUILTIN: Mapping[str, Callable[[BuiltinGrant, RetryPolicy], Tool]] = {
    "read_file": lambda grant, policy: read_file_tool(policy=policy),
    "list_dir": lambda grant, policy: list_dir_tool(policy=policy),
    "search_files": lambda grant, policy: search_files_tool(policy=policy),
    "write_file": lambda grant, policy: write_file_tool(policy=policy),
    "edit_file": lambda grant, policy: edit_file_tool(policy=policy),
    "run_shell": lambda grant, policy: run_shell_tool(policy=policy),
    "web_fetch": lambda grant, policy: web_fetch_tool(allow=grant.allow, policy=policy),
    "ask_user": lambda grant, policy: ask_user_tool(
        default=grant.default,
        timeout_s=grant.timeout_s,
        options_required=grant.options_required,
        answered_by=grant.answered_by,
        required=grant.required,
        policy=policy,
    ),
}


def build_tools(
    grants: Sequence[Grant] | None,
    *,
    selected: Sequence[str | CustomGrant] | None,
    functions: Functions,
    spawn: Callable[[AgentGrant], Spawn] | None = None,
    describe: Callable[[str], str | None] = lambda agent: None,
    retry: RetryLayers | None = None,
    remote: Mapping[str, Sequence[Tool]] = MappingProxyType({}),
) -> tuple[Tool, ...]:
    """Build what `grants` names, in order; of it what `selected` names, and then the custom tools in there.

    Args:
        grants: None grants what reads and changes nothing.
        selected: Names a step asks for, and tools of its own; None takes the whole grant.
        functions: Where a Python grant's function is looked up; `module:function` is imported.
        spawn: Makes what holds a conversation with a granted agent.
        describe: An agent's own description, by its name.
        retry: The agent's own layers of the policy of its calls.
        remote: The tools of each grant of an MCP server, by the grant's name.

    Raises: InputError for a function that is not there or no tool, and for a name that comes twice or is not granted.
    """
    if grants is None:
        grants = [BuiltinGrant.model_validate({"builtin": name}) for name in DEFAULT_TOOLS]
    names: dict[str, Grant] = {}
    for grant in grants:
        for name in _names(grant, remote):
            if name in names:
                raise InputError(f"tool `{name}` is granted twice; a model could not tell them apart, so rename one")
            names[name] = grant
    if selected is not None:
        for each in selected:
            if not isinstance(each, CustomGrant) and each not in names:
                raise InputError(f"{unknown_name('tool', each, names)}; a step selects from what its agent is granted")
        own = {each.name: each for each in selected if isinstance(each, CustomGrant)}
        if taken := own.keys() & names.keys():
            raise InputError(f"tool `{min(taken)}` is granted twice; a model could not tell them apart, so rename one")
        names = {name: grant for name, grant in names.items() if name in selected} | own
    return tuple(
        _remote(name, grant, remote)
        if isinstance(grant, McpGrant)
        else _build(grant, functions, spawn, describe, retry)
        for name, grant in names.items()
    )


def _names(grant: Grant, remote: Mapping[str, Sequence[Tool]]) -> Sequence[str]:
    if not isinstance(grant, McpGrant):
        return (grant.name,)
    return [tool.name for tool in remote.get(grant.name, ())]


def _remote(name: str, grant: McpGrant, remote: Mapping[str, Sequence[Tool]]) -> Tool:
    tool = next(tool for tool in remote[grant.name] if tool.name == name)
    if text := wrong_name(name, f"grant others of `{grant.mcp}` with `tools:`"):
        raise InputError(f"MCP server `{grant.mcp}`: {text}")
    return tool


def _build(
    grant: BuiltinGrant | PythonGrant | CustomGrant | AgentGrant,
    functions: Functions,
    spawn: Callable[[AgentGrant], Spawn] | None,
    describe: Callable[[str], str | None],
    retry: RetryLayers | None,
) -> Tool:
    match grant:
        case PythonGrant():
            policy = _policy("tool", grant, retry)
            return python_tool(
                find_function(grant.python, functions),
                name=grant.name,
                description=grant.description,
                required=grant.required,
                pins=grant.args,
                max_calls=grant.max_calls,
                max_output_bytes=grant.max_output_bytes,
                policy=policy,
            )
        case CustomGrant():
            return custom_tool(grant, policy=_policy("tool", grant, retry))
        case AgentGrant():
            if spawn is None:
                raise InputError(f"tool `{grant.name}`: agents cannot be called here; grant other tools")
            policy = policy_for("waiting").bounded(grant.timeout_s)  # `spawn` has the other clocks of a child
            return sub_agent_tool(grant, spawn(grant), description=describe(grant.agent), policy=policy)
        case BuiltinGrant(builtin="ask_user"):  # its timeout is how long it waits for a person
            return _BUILTIN["ask_user"](grant, policy_for("waiting", *agent_layers("waiting", retry)))
        case BuiltinGrant():
            return _BUILTIN[grant.builtin](grant, _policy("tool", grant, retry))


def _policy(
    kind: EffectKind, grant: BuiltinGrant | PythonGrant | CustomGrant, retry: RetryLayers | None
) -> RetryPolicy:
    """Return the policy of a tool's calls; its grant's own `retry:` and `timeout:` come last."""
    own = None if isinstance(grant, BuiltinGrant) else grant.retry
    return policy_for(kind, *agent_layers(kind, retry), own).bounded(grant.timeout_s)

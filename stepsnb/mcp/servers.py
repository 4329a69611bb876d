"""The servers of one run: each opened when it is first wanted, shared by all steps, closed with the run."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import McpGrant, McpServer, RetryLayers
from ..effects import Attempt, EffectFailed, RetryNotice, RetryPolicy, agent_layers, policy_for, run_effect
from ..errors import ErrorCode, InputError, McpError
from ..events import Emit, Retry
from ..suggest import unknown_name
from ..tools import Tool, ToolContext, ToolResult
from .connection import Connection
from .results import to_result

if TYPE_CHECKING:
    from mcp_types import Tool as RemoteTool


def find_server(servers: Sequence[McpServer], name: str) -> McpServer:
    """Return the entry of that name. Raises: InputError when there is none."""
    found = {server.name: server for server in servers}
    if name not in found:
        raise InputError(unknown_name("MCP server", name, found))
    return found[name]


class McpServers:
    """The clients of a run, one for each server."""

    def __init__(self, servers: Sequence[McpServer], base_dir: Path) -> None:
        self._servers = {server.name: server for server in servers}
        self._base_dir = base_dir
        self._open: dict[str, Connection] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def tools_of(
        self, grants: Sequence[McpGrant], *, retry: RetryLayers | None = None, emit: Emit | None = None
    ) -> dict[str, tuple[Tool, ...]]:
        """Return the tools of each grant, by the grant's name; `emit` is told what is tried again.

        Raises: McpError for a server that does not answer, InputError for a tool that it has not.
        """
        names = dict.fromkeys(grant.mcp for grant in grants)
        listed = {name: await self.list_tools(name, retry=retry, emit=emit) for name in names}
        return {grant.name: tuple(self._tools(grant, listed[grant.mcp], retry)) for grant in grants}

    async def list_tools(
        self, name: str, *, retry: RetryLayers | None = None, emit: Emit | None = None
    ) -> "list[RemoteTool]":
        """Fetch the list of tools that a server has now. Raises: McpError, InputError."""
        policy = policy_for("connector", *agent_layers("connector", retry))
        where = f"MCP server `{name}`"
        # A program may take as long to start as all attempts together: one that is ended half-way starts no faster.
        start = replace(policy, queue_timeout_s=None, run_timeout_s=policy.total_timeout_s)
        fetch = replace(policy, queue_timeout_s=None)

        async def opened(attempt: Attempt) -> Connection:
            return await self.connection(name)

        async def listed(attempt: Attempt) -> "list[RemoteTool]":
            return await (await self.connection(name)).list_tools()

        on_retry = None if emit is None else partial(_tell, emit)
        try:
            await run_effect(start, repeatable(opened), where=where, on_retry=on_retry)
            return await run_effect(fetch, repeatable(listed), where=where, on_retry=on_retry)
        except EffectFailed as exc:
            text = str(exc)
            if exc.code is ErrorCode.DEADLINE_EXCEEDED:
                text = f"{text}; it did not answer, so try what `command:` or `endpoint:` names by hand"
            raise McpError(text if where in text else f"{where}: {text}") from exc

    async def connection(self, name: str) -> Connection:
        """Return the open connection to a server, a new one when there is none or it broke.

        Raises: McpError, InputError.
        """
        async with self._locks.setdefault(name, asyncio.Lock()):
            known = self._open.get(name)
            if known is not None and not known.is_lost:
                return known
            if known is not None:
                del self._open[name]
                await known.close()
            connection = Connection(find_server([*self._servers.values()], name), self._base_dir)
            self._open[name] = connection  # before it is open, so that a stop meanwhile finds it
            await connection.open()
            return connection

    async def close(self) -> None:
        """Close every client; the programs that were started have ended when this returns."""
        connections = [*self._open.values()]
        self._open.clear()
        await asyncio.gather(*(connection.close() for connection in connections))

    def drop(self) -> None:
        """Let every client end by itself, from any thread: nobody will wait for it."""
        for connection in self._open.values():
            connection.drop()

    def _tools(self, grant: McpGrant, listed: "Sequence[RemoteTool]", retry: RetryLayers | None) -> list[Tool]:
        known = {tool.name: tool for tool in listed}
        for name in grant.chosen or ():
            if name not in known:
                raise InputError(f"MCP server `{grant.mcp}`: {unknown_name('tool', name, known)}")
        return [self._tool(grant, known[name], retry) for name in grant.chosen or known]

    def _tool(self, grant: McpGrant, remote: "RemoteTool", retry: RetryLayers | None) -> Tool:
        async def call(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
            try:
                connection = await self.connection(grant.mcp)
                result = to_result(await connection.call_tool(remote.name, arguments))
            except McpError as exc:
                return ToolResult.error(str(exc), code=ErrorCode.PROVIDER_ERROR, retryable=exc.retryable)
            return replace(result, content=connection.hide(result.content))

        return Tool(
            name=f"{grant.mcp}__{remote.name}",
            description=grant.description or remote.description or remote.title or f"`{remote.name}` of `{grant.mcp}`.",
            parameters=_object_schema(remote.input_schema),
            call=call,
            is_read_only=bool(remote.annotations and remote.annotations.read_only_hint),
            required=grant.required,
            max_calls=grant.max_calls,
            max_output_bytes=grant.max_output_bytes,
            policy=_policy(grant, retry, is_repeatable=may_be_repeated(remote)),
        )


def _tell(emit: Emit, notice: RetryNotice) -> None:
    emit(
        Retry(
            effect="connector",
            attempt=notice.attempt,
            max_attempts=notice.max_attempts,
            reason=notice.reason,
            code=notice.code,
            wait_s=notice.wait_s,
        )
    )


def may_be_repeated(remote: "RemoteTool") -> bool:
    """Whether the server says that a call which failed may be made again."""
    hints = remote.annotations
    return bool(hints and (hints.read_only_hint or hints.idempotent_hint))


def _policy(grant: McpGrant, retry: RetryLayers | None, *, is_repeatable: bool) -> RetryPolicy:
    """Return the policy of a tool's calls: none is repeated unless the server or the user says that it may be."""
    once = None if is_repeatable else {"max_attempts": 1}
    policy = policy_for("connector_call", once, *agent_layers("connector_call", retry), grant.retry)
    return policy.bounded(grant.timeout_s)


def _object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that every provider takes for a tool without arguments too."""
    return {**schema, "type": "object", "properties": schema.get("properties") or {}}


def repeatable(work: Any) -> Any:
    """Let the runner of effects see which failures may pass."""

    async def attempt(now: Attempt) -> Any:
        try:
            return await work(now)
        except McpError as exc:
            raise EffectFailed(str(exc), code=ErrorCode.PROVIDER_ERROR, retryable=exc.retryable) from exc

    return attempt

"""Calls the tools that resource types are made of, and turns what they answer into content."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ..effects import Attempt, EffectFailed, policy_for, run_effect
from ..errors import ErrorCode, InputError, McpError, ResourceError
from ..resources import Answer, AnswerFile, check_names
from ..suggest import unknown_name
from .connection import Connection
from .results import text_of
from .servers import McpServers, may_be_repeated, repeatable

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ReadResourceResult
    from mcp_types import Tool as RemoteTool

_QUOTED = 500
_NAME_CHARACTERS = 100
_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\]+")


class ResourceCalls:
    """The tools of a run's servers, as `resources.ToolServers`."""

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Callable[[Mapping[str, Any]], dict[str, Any]],
        *,
        timeout_s: float | None = None,
    ) -> Answer:
        """Call a tool; see `ToolServers.call`. A call is repeated only where the server says that it may be."""
        where = f"tool `{tool}` of MCP server `{server}`"
        remote = await self._tool(server, tool)
        try:
            given = arguments(remote.input_schema)
        except ResourceError as exc:
            raise ResourceError(f"{where}: {exc}") from exc

        async def attempt(now: Attempt) -> "tuple[Connection, CallToolResult]":
            connection = await self._servers.connection(server)
            return connection, await connection.call_tool(tool, given)

        once = None if may_be_repeated(remote) else {"max_attempts": 1}
        policy = policy_for("connector_call", once).bounded(timeout_s)
        try:
            connection, called = await run_effect(policy, repeatable(attempt), where=where)
        except EffectFailed as exc:
            raise ResourceError(str(exc), has_failed=exc.code is ErrorCode.DEADLINE_EXCEEDED) from exc
        except InputError as exc:
            raise ResourceError(str(exc)) from exc
        if called.is_error:
            raise ResourceError(f"{where} failed: {connection.hide(text_of(called))[:_QUOTED]}", has_failed=True)
        return to_answer(called)

    async def problem_of(self, server: str, tool: str, args: Mapping[str, Any]) -> str | None:
        """Say what is wrong with a tool and its arguments before they are needed.

        None when nothing is, and when the server does not answer: a version that is kept may do without it.
        """
        try:
            listed = {each.name: each for each in await self._servers.list_tools(server)}
        except (McpError, InputError):
            return None
        if tool not in listed:
            return f"MCP server `{server}`: {unknown_name('tool', tool, listed)}"
        try:
            check_names(args, listed[tool].input_schema)
        except ResourceError as exc:
            return f"tool `{tool}` of MCP server `{server}`: {exc}"
        return None

    async def read(self, server: str, address: str) -> tuple[AnswerFile, ...]:
        """Read an address; see `ToolServers.read`. To read changes nothing, so it may be tried again."""

        async def attempt(now: Attempt) -> "ReadResourceResult":
            return await (await self._servers.connection(server)).read_resource(address)

        try:
            found = await run_effect(policy_for("connector_call"), repeatable(attempt), where=f"MCP server `{server}`")
        except EffectFailed as exc:
            raise ResourceError(str(exc), has_failed=exc.code is ErrorCode.DEADLINE_EXCEEDED) from exc
        except InputError as exc:
            raise ResourceError(str(exc)) from exc
        return tuple(_of_resource(each, f"resource-{number}") for number, each in enumerate(found.contents, 1))

    async def _tool(self, server: str, tool: str) -> "RemoteTool":
        try:
            listed = {each.name: each for each in await self._servers.list_tools(server)}
        except (McpError, InputError) as exc:
            raise ResourceError(str(exc)) from exc
        if tool not in listed:
            raise ResourceError(f"MCP server `{server}`: {unknown_name('tool', tool, listed)}")
        return listed[tool]


def to_answer(called: "CallToolResult") -> Answer:
    """Return what a result holds, in its order. Raises: ResourceError for content that is spoiled."""
    texts: list[str] = []
    files: list[AnswerFile] = []
    links: list[str] = []
    for number, block in enumerate(called.content, 1):
        match block.type:
            case "text":
                texts.append(block.text)
            case "image" | "audio":
                files.append(AnswerFile(f"{block.type}-{number}.{_suffix(block.mime_type)}", _decoded(block.data)))
            case "resource":
                files.append(_of_resource(block.resource, f"resource-{number}"))
            case "resource_link":
                links.append(str(block.uri))
    return Answer(tuple(texts), called.structured_content, tuple(files), tuple(links))


def _of_resource(resource: Any, instead: str) -> AnswerFile:
    name = file_name(str(resource.uri), instead)
    text = getattr(resource, "text", None)
    return AnswerFile(name, _decoded(resource.blob) if text is None else str(text).encode("utf-8", "replace"))


def file_name(address: str, instead: str) -> str:
    """Return the last part of an address as the name of a file, and `instead` where that is none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return instead
    path = unquote(parts.path).rstrip("/") or parts.netloc
    name = _UNFIT.split(path)[-1].strip()
    return name[-_NAME_CHARACTERS:] if name.strip(". ") else instead


def _suffix(media_type: str) -> str:
    """Return what follows the slash of a media type: `image/svg+xml` is `svg`."""
    kind = media_type.partition("/")[2].partition(";")[0].partition("+")[0].removeprefix("x-")
    return re.sub(r"[^A-Za-z0-9]", "", kind) or "bin"


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise ResourceError(f"what the tool answered is no base64: {exc}".lower()) from exc

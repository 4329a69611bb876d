"""One open connection to one server."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import McpServer
from ..errors import InputError, McpError
from ..settings import MCP_TOOL_LIST_PAGES, VERSION
from .environment import server_environment
from .heard import Heard, heard_by_call
from .http import http_transport, read_secret
from .stdio import stdio_transport

if TYPE_CHECKING:
    import httpx2
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp_types import CallToolResult, ReadResourceResult
    from mcp_types import Tool as RemoteTool

_HIDDEN = "[redacted]"

_UNSEEN = logging.NullHandler()
"""Takes what the SDK logs, unless somebody set up logging: errors say it, and a cell is no place for its tracebacks."""


class Connection:
    """A client of a server, for any number of callers.

    A task of its own opens and closes it, as the SDK wants both from one task. Once `is_lost` it is of no more use.
    """

    def __init__(self, server: McpServer, base_dir: Path, auth: "httpx2.Auth | None" = None) -> None:
        self._server = server
        self._base_dir = base_dir
        self._auth = auth
        self._heard = Heard()
        self._secret: str | None = None
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[Client] | None = None
        self.is_lost = False

    async def open(self) -> None:
        """Start the server where it is a program, and shake hands. Raises: McpError, InputError."""
        try:
            self._secret = read_secret(self._server)
            if self._auth is None and self._server.auth.type == "oauth":
                from .login_auth import LoginAuth

                self._auth = LoginAuth(self._server)
        except InputError:
            self.is_lost = True
            raise
        logging.getLogger("mcp").addHandler(_UNSEEN)
        self._opened = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(self._opened))
        try:
            await asyncio.shield(self._opened)
        except asyncio.CancelledError:
            self._opened.cancel()
            await self.close()
            raise

    async def list_tools(self) -> "list[RemoteTool]":
        """Fetch the server's list of tools. Raises: McpError."""
        found: list[RemoteTool] = []
        cursor: str | None = None
        with self._failing("its list of tools cannot be fetched"):
            for _ in range(MCP_TOOL_LIST_PAGES):
                page = await self._client.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    return found
        raise McpError(f"MCP server `{self._server.name}`: its list of tools has no end", retryable=False)

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Call a tool. Raises: McpError."""
        with self._failing(f"the call of `{name}` failed"):
            return await self._client.call_tool(name, arguments)

    async def read_resource(self, address: str) -> "ReadResourceResult":
        """Read what the server has at an address. Raises: McpError."""
        with self._failing(f"`{address}` cannot be read"):
            return await self._client.read_resource(address)

    def hide(self, text: str) -> str:
        """Replace the server's tokens in a text."""
        for secret in (self._secret, *getattr(self._auth, "secrets", ())):
            if secret:
                text = text.replace(secret, _HIDDEN)
        return text

    async def close(self) -> None:
        """End the connection and whatever was started for it; returns once that is gone."""
        self.is_lost = True
        self._closing.set()
        if self._task is not None:
            if self._opened is not None and not (self._opened.done() and not self._opened.cancelled()):
                self._task.cancel()
            await asyncio.wait({self._task})

    def drop(self) -> None:
        """Have the connection end soon; callable from any thread."""
        if self._task is not None:
            with suppress(RuntimeError):  # its loop is closed, and what ran in it has ended
                self._task.get_loop().call_soon_threadsafe(self._closing.set)

    @property
    def _client(self) -> "Client":
        if self._opened is None:
            raise McpError(f"MCP server `{self._server.name}` is not open", retryable=False)
        return self._opened.result()

    async def _hold(self, opened: "asyncio.Future[Client]") -> None:
        from mcp import Client
        from mcp_types import Implementation

        try:
            async with Client(
                self._transport(), client_info=Implementation(name="stepsnb", version=VERSION), cache=None
            ) as client:
                if not opened.done():
                    opened.set_result(client)
                await self._closing.wait()
        except sdk_errors() as exc:
            if not opened.done():
                opened.set_exception(self._failed("it cannot be reached", exc, self._heard))
        finally:
            self.is_lost = True

    def _transport(self) -> "AbstractAsyncContextManager[TransportStreams]":
        server = self._server
        if server.command is None:
            return http_transport(server, heard=self._heard, auth=self._auth)
        return stdio_transport(
            (server.command, *server.args),
            cwd=self._base_dir / (server.cwd or "."),
            env=server_environment(server),
            heard=self._heard,
        )

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        """Turn what the SDK raises into an McpError that says what failed."""
        with heard_by_call() as heard:
            try:
                yield
            except sdk_errors() as exc:
                raise self._failed(what, exc, self._heard if self._server.command else heard) from exc

    def _failed(self, what: str, exc: BaseException, heard: Heard) -> McpError:
        """Say what failed and all that is known of why; a connection that broke is not used again."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED

        while isinstance(exc, BaseExceptionGroup):
            exc = exc.exceptions[0]
        is_answer = isinstance(exc, MCPError) and exc.code != CONNECTION_CLOSED and heard.problem is None
        reasons = [str(exc) or type(exc).__name__]
        command = self._server.command
        if isinstance(exc, OSError) and exc.strerror and command:
            reasons = [f"`{command}` cannot be started: {exc.strerror.lower()}; check `command:` and `cwd:`"]
        if not is_answer:
            self.is_lost |= not (heard.is_passing and heard.problem is not None)
            reasons += [said] if (said := heard.describe() or self._heard.describe()) else []
        text = f"MCP server `{self._server.name}`: {what}: {'; '.join(reasons)}"
        return McpError(self.hide(text), retryable=not (is_answer or heard.is_final))


def sdk_errors() -> tuple[type[Exception], ...]:
    """Return what the SDK raises for servers that do not do what they should."""
    import httpx2
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp import MCPError

    return (
        *(MCPError, httpx2.HTTPError, BrokenResourceError, ClosedResourceError),
        *(OSError, RuntimeError, ValueError, ExceptionGroup),
    )

"""Talks to a server at an address: streamable HTTP, with the token its entry names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..config import McpServer
from ..errors import InputError
from ..keys import find_key
from ..settings import MCP_MESSAGE_BYTES
from .heard import Heard, heard_here

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams

_CONNECT_S = 10.0
_REFUSED = (401, 403)
_GONE = 404
_BROKEN = 500


def read_secret(server: McpServer) -> str | None:
    """Return the token a server is told; None when it is told none. Raises: InputError when it is not set."""
    variable = server.auth.api_key_env
    if variable is None:
        return None
    secret = find_key(variable)
    if not secret:
        raise InputError(
            f"MCP server `{server.name}`: {variable} is not set; set it in the environment before the kernel "
            "starts, or in a file `.env` here"
        )
    return secret


@asynccontextmanager
async def http_transport(
    server: McpServer, *, heard: Heard, auth: "httpx2.Auth | None" = None
) -> AsyncIterator["TransportStreams"]:
    """Give the streams of messages to and from an address. Calls have clocks of their own, so reads have none."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    endpoint = server.endpoint
    assert endpoint is not None
    secret = read_secret(server)
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    checked = "the rights of its token" if server.auth.api_key_env is None else str(server.auth.api_key_env)

    async def note(response: httpx2.Response) -> None:
        if response.request.method != "POST":  # a stream for the server's own messages, which it need not offer
            return
        if response.request.url != httpx2.URL(endpoint):  # of a login
            await _bound(response, Heard())
            return
        status, now = response.status_code, heard_here() or heard
        now.is_final = status in _REFUSED
        now.is_passing = status != _GONE  # that ends the session
        now.problem = f"it answered {status}" if now.is_final or status == _GONE or status >= _BROKEN else None
        if now.is_final:
            advice = getattr(auth, "advice", f"check {checked}, as `auth:` names it")
            now.problem = f"it refused the request ({status}); {advice}"
        await _bound(response, now)

    timeout = httpx2.Timeout(_CONNECT_S, read=None)
    async with (
        httpx2.AsyncClient(headers=headers, auth=auth, timeout=timeout, event_hooks={"response": [note]}) as client,
        streamable_http_client(endpoint, http_client=client, max_sse_event_size=MCP_MESSAGE_BYTES) as streams,
    ):
        yield streams


async def _bound(response: "httpx2.Response", heard: Heard) -> None:
    """Read no more of a reply than a message may be long; events of streams are bounded by the SDK.

    What is too long is left empty, which fails the one call: an exception would end the others with it.
    """
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return
    kept: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MCP_MESSAGE_BYTES:
            heard.problem = f"it sent a message of more than {MCP_MESSAGE_BYTES:,} bytes; ask it for less"
            heard.is_final = True
            kept.clear()
            await response.aclose()
            break
        kept.append(part)
    response._content = b"".join(kept)  # what `aread` keeps once it has read everything

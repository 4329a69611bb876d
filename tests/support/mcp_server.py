"""A well-behaved MCP server for tests, on stdio or at an address. Usage: mcp_server.py [PORT [TOKEN]]"""

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("notes")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def environment() -> str:
    """List the names of the server's variables."""
    return " ".join(sorted(os.environ))


@server.tool()
def where() -> str:
    """Say where the server runs, and as which process."""
    return f"{os.getpid()} {Path.cwd()}"


@server.tool()
def long_text(lines: int) -> str:
    """Return numbered lines."""
    return "\n".join(f"line {number}" for number in range(lines))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        server.run("stdio")
    else:
        import uvicorn

        app = server.streamable_http_app(stateless_http=True, json_response=True, host="127.0.0.1")
        token = sys.argv[2] if len(sys.argv) > 2 else None

        async def guarded(scope, receive, send):
            headers = dict(scope.get("headers") or ())
            if token and scope["type"] == "http" and headers.get(b"authorization") != f"Bearer {token}".encode():
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b"who are you"})
                return
            await app(scope, receive, send)

        uvicorn.run(guarded, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")

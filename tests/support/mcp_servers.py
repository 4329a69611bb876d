"""Where `tests/prepare.py` puts the MCP servers that other people wrote, and the tests find them."""

from pathlib import Path

from platformdirs import user_cache_path

MCP_FOLDER = user_cache_path("stepsnb") / "test-mcp-servers"
MCP_SERVERS = ("server-everything", "server-filesystem")


def npm_server(name: str) -> Path:
    """Return the program of a server."""
    return MCP_FOLDER / "node_modules" / ".bin" / f"mcp-{name}"

"""Where `tests/prepare.py` puts the MCP servers that other people wrote, and the tests find them."""

from pathlib import Path

from platformdirs import user_cache_path

MCP_FOLDER = user_cache_path("stepsnb") / "test-mcp-servers"
MCP_SERVERS = ("server-everything", "server-filesystem")
PYTHON_MCP_SERVERS = ("mcp-server-git", "mcp-server-time")


def npm_server(name: str) -> Path:
    """Return the program of a server."""
    return MCP_FOLDER / "node_modules" / ".bin" / f"mcp-{name}"


def python_environment(name: str) -> Path:
    """Return the virtual environment of a server, its own: what it needs is not what stepsnb needs."""
    return MCP_FOLDER / "python" / name


def python_server(name: str) -> Path:
    """Return the program of a server that is a Python package."""
    return python_environment(name) / "bin" / name

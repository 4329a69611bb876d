"""An MCP server for 04_servers_budgets_questions.ipynb: the berths of a small harbour, kept in memory."""

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("harbour")

BERTHS = {"North quay": 12.0, "South quay": 7.5, "Pier 3": 4.0}
"""Depth in metres at low water."""

taken: dict[str, str] = {}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def berths() -> str:
    """List the berths with their depth at low water, and who lies there."""
    return "\n".join(f"{name}: {depth} m, {taken.get(name, 'free')}" for name, depth in BERTHS.items())


@server.tool()
def reserve(berth: str, ship: str) -> str:
    """Reserve a berth for a ship."""
    if berth not in BERTHS or berth in taken:
        return f"{berth} cannot be reserved"
    taken[berth] = ship
    return f"{berth} is reserved for {ship}"


if __name__ == "__main__":
    server.run("stdio")

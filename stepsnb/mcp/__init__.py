"""MCP servers: programs and addresses whose tools agents call."""

from .servers import McpServers

__all__ = ["McpServers"]

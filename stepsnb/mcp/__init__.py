"""MCP servers: programs and addresses whose tools agents call."""

from .resource_calls import ResourceCalls
from .servers import McpServers, find_server
from .token_file import TokenFile

__all__ = ["McpServers", "ResourceCalls", "TokenFile", "find_server"]

"""MCP servers: programs and addresses whose tools agents call."""

from .resource_calls import ResourceCalls
from .servers import McpServers

__all__ = ["McpServers", "ResourceCalls"]

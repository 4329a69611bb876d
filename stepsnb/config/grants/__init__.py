"""Tools an agent is granted, one file for each form, and what a step selects of them."""

from .builtin import BUILTIN_TOOLS, DEFAULT_TOOLS, BuiltinGrant
from .custom import CustomGrant
from .forms import Grant, Selected
from .mcp import McpGrant, server_complaint
from .python import PythonGrant
from .sub_agent import AgentGrant
from .tool_name import SYNTHESIZED_TOOLS, wrong_name

__all__ = [
    "BUILTIN_TOOLS",
    "DEFAULT_TOOLS",
    "SYNTHESIZED_TOOLS",
    "AgentGrant",
    "BuiltinGrant",
    "CustomGrant",
    "Grant",
    "McpGrant",
    "PythonGrant",
    "Selected",
    "server_complaint",
    "wrong_name",
]

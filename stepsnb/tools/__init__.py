"""What a model may call: built-in tools, Python functions, and the guards around a call."""

from .base import Ask, AskReply, AskRequest, Tool, ToolContext, ToolResult
from .call import BadArguments, Called, call_tool, parse_arguments
from .grants import build_tools
from .python_tool import python_tool

__all__ = [
    "Ask",
    "AskReply",
    "AskRequest",
    "BadArguments",
    "Called",
    "Tool",
    "ToolContext",
    "ToolResult",
    "build_tools",
    "call_tool",
    "parse_arguments",
    "python_tool",
]

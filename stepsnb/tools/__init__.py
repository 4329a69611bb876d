"""What a model may call: built-in tools, Python functions, and the guards around a call."""

from .arguments import BadArguments, parse_arguments
from .attempts import policy_of
from .base import Ask, AskReply, AskRequest, Tool, ToolContext, ToolResult, to_json
from .call import Called, call_tool
from .grants import build_tools
from .python_tool import python_tool
from .read_file import read_for_context
from .spill import shorten
from .sub_agent import Spawn, sub_agent_tool
from .submit_output import SUBMIT_OUTPUT, WrongOutput, find_output, submit_output_tool
from .verdict import VERDICT, verdict_tool

__all__ = [
    "SUBMIT_OUTPUT",
    "VERDICT",
    "Ask",
    "AskReply",
    "AskRequest",
    "BadArguments",
    "Called",
    "Spawn",
    "Tool",
    "ToolContext",
    "ToolResult",
    "WrongOutput",
    "build_tools",
    "call_tool",
    "find_output",
    "parse_arguments",
    "policy_of",
    "python_tool",
    "read_for_context",
    "shorten",
    "sub_agent_tool",
    "submit_output_tool",
    "to_json",
    "verdict_tool",
]

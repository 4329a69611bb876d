"""One conversation, from its first message to the reason it stopped; no storage, no pipeline, no notebook."""

from .loop import AgentDeps, AgentResult, StopReason, run_agent
from .obligations import Obligations, OwedCall, missing_calls
from .system import build_system_text
from .toolcalls import ToolRunner

__all__ = [
    "AgentDeps",
    "AgentResult",
    "Obligations",
    "OwedCall",
    "StopReason",
    "ToolRunner",
    "build_system_text",
    "missing_calls",
    "run_agent",
]

"""One conversation, from its first message to the reason it stopped; no storage, no pipeline, no notebook."""

from .compaction import Budget, budget_of
from .deps import AgentDeps, AgentResult, StopReason, SyntheticCall
from .failover import ModelSource, is_outage
from .history import groups, rebuild_history, sendable
from .loop import run_agent
from .obligations import Obligations, OwedCall, missing_calls
from .system import build_system_text
from .toolcalls import ToolRunner

__all__ = [
    "AgentDeps",
    "AgentResult",
    "Budget",
    "ModelSource",
    "Obligations",
    "OwedCall",
    "StopReason",
    "SyntheticCall",
    "ToolRunner",
    "budget_of",
    "build_system_text",
    "groups",
    "is_outage",
    "missing_calls",
    "rebuild_history",
    "run_agent",
    "sendable",
]

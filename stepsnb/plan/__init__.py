"""What a run will do, worked out from models alone: no clock, no files, no environment."""

from .build import build_nodes, build_plan, expand, expand_one, judge_node, rehash
from .expand import read_axis
from .explain import Action, PlanRow, explain
from .fingerprint import Fingerprint
from .history import EarlierStep, FindResult, History, KeptResult, earlier_steps
from .node import Node, Plan
from .reuse import inputs_of, outputs_of, reusable
from .routes import backward_routes, most_visits, position_of, reachable

__all__ = [
    "Action",
    "EarlierStep",
    "FindResult",
    "Fingerprint",
    "History",
    "KeptResult",
    "Node",
    "Plan",
    "PlanRow",
    "backward_routes",
    "build_nodes",
    "build_plan",
    "earlier_steps",
    "expand",
    "expand_one",
    "explain",
    "inputs_of",
    "judge_node",
    "most_visits",
    "outputs_of",
    "position_of",
    "reachable",
    "read_axis",
    "rehash",
    "reusable",
]

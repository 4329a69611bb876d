"""What a run will do, worked out from models alone: no clock, no files, no environment."""

from .build import build_plan
from .node import Node, Plan

PlannedStep = Node

__all__ = ["Node", "Plan", "PlannedStep", "build_plan"]

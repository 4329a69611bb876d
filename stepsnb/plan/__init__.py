"""What a run will do, worked out from models alone: no clock, no files, no environment."""

from ..config import UnmetInput, check_artifacts
from .build import Plan, PlannedStep, build_plan

__all__ = ["Plan", "PlannedStep", "UnmetInput", "build_plan", "check_artifacts"]

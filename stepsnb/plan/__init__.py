"""What a run will do, worked out from models alone: no clock, no files, no environment."""

from .build import Plan, PlannedStep, build_plan

__all__ = ["Plan", "PlannedStep", "build_plan"]

"""YAML to checked models: strict, with a place for every problem; reads no file but the one it is asked to load."""

from .agent import Agent
from .artifact_flow import FILES_ARTIFACT, UnmetInput, check_artifacts
from .assertion import JobAssert, PipelineAssert, StepAssert, ToolCallAssert
from .defaults import Defaults, PriceEntry
from .grants import (
    BUILTIN_TOOLS,
    DEFAULT_TOOLS,
    SYNTHESIZED_TOOLS,
    AgentGrant,
    BuiltinGrant,
    CustomGrant,
    Grant,
    PythonGrant,
)
from .job import Job
from .loader import load_file, load_steps, load_text
from .output import OutputSpec
from .pipeline import Pipeline
from .problems import Where
from .resource import Resource
from .retry import RetryLayers, RetryOverride
from .schema import schema
from .source import Source
from .steps import AgentStep, ContextMode, GetStep, Step, StepContextFrom, TaskStep
from .values import load_mapping

__all__ = [
    "BUILTIN_TOOLS",
    "DEFAULT_TOOLS",
    "FILES_ARTIFACT",
    "SYNTHESIZED_TOOLS",
    "Agent",
    "AgentGrant",
    "AgentStep",
    "BuiltinGrant",
    "ContextMode",
    "CustomGrant",
    "Defaults",
    "GetStep",
    "Grant",
    "Job",
    "JobAssert",
    "OutputSpec",
    "Pipeline",
    "PipelineAssert",
    "PriceEntry",
    "PythonGrant",
    "Resource",
    "RetryLayers",
    "RetryOverride",
    "Source",
    "Step",
    "StepAssert",
    "StepContextFrom",
    "TaskStep",
    "ToolCallAssert",
    "UnmetInput",
    "Where",
    "check_artifacts",
    "load_file",
    "load_mapping",
    "load_steps",
    "load_text",
    "schema",
]

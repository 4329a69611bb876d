"""YAML to checked models: strict, with a place for every problem; reads no file but the one it is asked to load."""

from .agent import Agent
from .artifact_flow import FILES_ARTIFACT, UnmetInput, check_artifacts
from .assertion import JobAssert, PipelineAssert, StepAssert, ToolCallAssert
from .defaults import Defaults, PriceEntry
from .grant import BUILTIN_TOOLS, DEFAULT_TOOLS, BuiltinGrant, Grant, PythonGrant
from .job import Job
from .loader import load_file, load_steps, load_text
from .pipeline import Pipeline
from .problems import Where
from .resource import Resource
from .schema import schema
from .source import Source
from .steps import AgentStep, GetStep, Step, TaskStep
from .values import load_mapping

__all__ = [
    "BUILTIN_TOOLS",
    "DEFAULT_TOOLS",
    "FILES_ARTIFACT",
    "Agent",
    "AgentStep",
    "BuiltinGrant",
    "Defaults",
    "GetStep",
    "Grant",
    "Job",
    "JobAssert",
    "Pipeline",
    "PipelineAssert",
    "PriceEntry",
    "PythonGrant",
    "Resource",
    "Source",
    "Step",
    "StepAssert",
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

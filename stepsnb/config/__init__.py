"""YAML to checked models: strict, with a place for every problem; reads only its file and those that one names."""

from .agent import Agent
from .artifact_flow import FILES_ARTIFACT, Flow, FlowProblem, check_artifacts
from .assertion import JobAssert, PipelineAssert, StepAssert, ToolCallAssert
from .budget import BudgetSpec
from .defaults import Defaults, PriceEntry
from .fix import FixSpec
from .grants import (
    BUILTIN_TOOLS,
    DEFAULT_TOOLS,
    SYNTHESIZED_TOOLS,
    AgentGrant,
    BuiltinGrant,
    CustomGrant,
    Grant,
    McpGrant,
    PythonGrant,
    wrong_name,
)
from .image import ContainerLimits, ImageSpec
from .insertion import Insertion, find_node, insert
from .job import Job
from .loader import load_file, load_steps, load_text, resolve_step
from .mcp_server import McpAuth, McpServer
from .output import OutputSpec
from .pipeline import Pipeline
from .preflight import PreflightSpec
from .problems import Where
from .resource import BUILT_IN_TYPES, NEVER, Resource
from .resource_tools import ResourceTools, ServerToolCall
from .resource_type import ResourceType
from .retry import RetryLayers, RetryOverride
from .schema import schema
from .source import Source
from .steps import (
    FAILURE,
    HOOKS,
    NEXT,
    AcrossSpec,
    AgentStep,
    ApprovalStep,
    ArtifactFile,
    Axis,
    BlockBudget,
    ContextMode,
    DoStep,
    EnsembleStep,
    GetStep,
    InParallelStep,
    LoadVarStep,
    PutStep,
    RaceStep,
    Routes,
    Step,
    StepContextFrom,
    TaskStep,
    TryStep,
    VerdictEntry,
    judge_step,
)
from .task_entry import TaskEntry
from .values import load_mapping
from .workspace import CacheSpec, WorkspaceSpec

__all__ = [
    "BUILTIN_TOOLS",
    "BUILT_IN_TYPES",
    "DEFAULT_TOOLS",
    "FAILURE",
    "FILES_ARTIFACT",
    "HOOKS",
    "NEVER",
    "NEXT",
    "SYNTHESIZED_TOOLS",
    "AcrossSpec",
    "Agent",
    "AgentGrant",
    "AgentStep",
    "ApprovalStep",
    "ArtifactFile",
    "Axis",
    "BlockBudget",
    "BudgetSpec",
    "BuiltinGrant",
    "CacheSpec",
    "ContainerLimits",
    "ContextMode",
    "CustomGrant",
    "Defaults",
    "DoStep",
    "EnsembleStep",
    "FixSpec",
    "Flow",
    "FlowProblem",
    "GetStep",
    "Grant",
    "ImageSpec",
    "InParallelStep",
    "Insertion",
    "Job",
    "JobAssert",
    "LoadVarStep",
    "McpAuth",
    "McpGrant",
    "McpServer",
    "OutputSpec",
    "Pipeline",
    "PipelineAssert",
    "PreflightSpec",
    "PriceEntry",
    "PutStep",
    "PythonGrant",
    "RaceStep",
    "Resource",
    "ResourceTools",
    "ResourceType",
    "RetryLayers",
    "RetryOverride",
    "Routes",
    "ServerToolCall",
    "Source",
    "Step",
    "StepAssert",
    "StepContextFrom",
    "TaskEntry",
    "TaskStep",
    "ToolCallAssert",
    "TryStep",
    "VerdictEntry",
    "Where",
    "WorkspaceSpec",
    "check_artifacts",
    "find_node",
    "insert",
    "judge_step",
    "load_file",
    "load_mapping",
    "load_steps",
    "load_text",
    "resolve_step",
    "schema",
    "wrong_name",
]

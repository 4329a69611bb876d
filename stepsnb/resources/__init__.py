"""Resources: the types that check, fetch and publish versions, what is remembered of them, and which one a job gets."""

from .arguments import check_names
from .base import ResourceType
from .choice import Mode, Succeeded, Wanted, choose_version, choose_versions, has_new_version
from .fetching import fetch_artifact, fetch_key, refresh_versions, take_artifact_of
from .git import GitType
from .history import FileVersionStore, JobRun, VersionStore, succeeded_runs
from .kept import KeptVersions
from .params import read_params
from .path import PathType
from .programs import ProgramType
from .resolve import resolve_type, source_of
from .server_tools import Answer, AnswerFile, ServerToolType, ToolServers
from .versions import KnownVersion, Version, resource_scope, show_version, version_key

__all__ = [
    "Answer",
    "AnswerFile",
    "FileVersionStore",
    "GitType",
    "JobRun",
    "KeptVersions",
    "KnownVersion",
    "Mode",
    "PathType",
    "ProgramType",
    "ResourceType",
    "ServerToolType",
    "Succeeded",
    "ToolServers",
    "Version",
    "VersionStore",
    "Wanted",
    "check_names",
    "choose_version",
    "choose_versions",
    "fetch_artifact",
    "fetch_key",
    "has_new_version",
    "read_params",
    "refresh_versions",
    "resolve_type",
    "resource_scope",
    "show_version",
    "source_of",
    "succeeded_runs",
    "take_artifact_of",
    "version_key",
]

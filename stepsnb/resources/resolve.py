"""Finds the type of a resource, and its source with the type's defaults."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..config import Pipeline, Resource
from ..errors import ResourceError
from ..settings import CHECK_S
from ..suggest import unknown_name
from ..workspace import open_shell
from .base import ResourceType
from .git import GitType
from .path import PathType
from .programs import ProgramType
from .server_tools import ServerToolType, ToolServers


def resolve_type(
    pipeline: Pipeline,
    resource: Resource,
    *,
    store_root: Path,
    servers: ToolServers,
    variables: Mapping[str, Any] | None = None,
    timeout_s: float | None = None,
    run_id: str = "",
) -> ResourceType:
    """Return what checks, fetches and publishes `resource`. A type of the pipeline's own hides a built-in one.

    Args:
        store_root: Never part of what `path` brings in.
        servers: Reaches what types made of tools call.
        variables: `.vars` in the programs: the coordinates of a cell.
        timeout_s: Of each program that is run; None leaves it to the caller, except for checks.
        run_id: Of the run it is for; containers carry it.

    Raises: ResourceError for a type there is none of.
    """
    own = next((each for each in pipeline.resource_types if each.name == resource.type), None)
    if own is not None and own.mcp is not None:
        server = next(each for each in pipeline.mcp_servers if each.name == own.mcp.server)
        identity = server.model_dump(exclude={"auth"}, exclude_defaults=True)
        return ServerToolType(own.name, own.mcp, servers, variables=variables, identity=identity)
    if own is not None:
        return ProgramType(
            own.name,
            check=own.check,
            fetch=own.in_,
            publish=own.out,
            open_shell=partial(open_shell, image=own.image, run_id=run_id),
            env=own.env,
            variables=variables,
            timeout_s=timeout_s,
            check_timeout_s=timeout_s or CHECK_S,
            place=repr(own.image),
        )
    match resource.type:
        case "path":
            return PathType(resource.name, base_dir=pipeline.base_dir, store_root=store_root)
        case "git":
            return GitType(resource.name, base_dir=pipeline.base_dir, timeout_s=timeout_s)
    known = ["git", "path", *(each.name for each in pipeline.resource_types)]
    raise ResourceError(f"resource `{resource.name}`: {unknown_name('resource type', resource.type, known)}")


def source_of(pipeline: Pipeline, resource: Resource) -> dict[str, Any]:
    """Return a resource's `source:` with the defaults of its type where it says nothing itself."""
    own = next((each for each in pipeline.resource_types if each.name == resource.type), None)
    return {**(own.defaults if own is not None else {}), **resource.source}

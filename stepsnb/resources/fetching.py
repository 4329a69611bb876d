"""Brings versions of a resource into a run: finds what is new, and makes an artifact of one."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..errors import ResourceError, WorkspaceError
from ..workspace import ArtifactTree, RunWorkspace, finish_in_thread, remove_tree
from .base import ResourceType
from .history import VersionStore
from .versions import KnownVersion, Version, resource_scope


async def refresh_versions(
    resource_type: ResourceType, source: Mapping[str, Any], store: VersionStore
) -> list[KnownVersion]:
    """Check a resource for what is new since its newest known version, and return what was new, oldest first.

    Raises: ResourceError, StoreError.
    """
    scope = resource_scope(resource_type.name, source)
    newest = next((each.version for each in reversed(store.known(scope)) if each.from_check), None)
    return store.add(scope, await resource_type.check(source, newest))


async def fetch_artifact(
    resource_type: ResourceType,
    source: Mapping[str, Any],
    version: Version | None,
    params: Mapping[str, Any],
    *,
    name: str,
    workspace: RunWorkspace,
) -> tuple[ArtifactTree, Version]:
    """Fetch one version as the artifact `name`, and return it with its version.

    Args:
        version: None fetches what is there now, from a type that needs no check; its version is then the digest.

    Raises: ResourceError; WorkspaceError for content an artifact cannot hold. Nothing is left behind then.
    """
    if version is None and resource_type.needs_check:
        raise ResourceError(f"get `{name}`: its resource has no version yet; there is nothing to fetch")
    folder = await finish_in_thread(workspace.begin_tree)
    try:
        await resource_type.fetch(source, version, params, folder)
        # A copy is out of reach of whatever a program left running.
        keep = workspace.copy_tree if resource_type.runs_programs else workspace.keep_tree
        tree = await finish_in_thread(keep, name, folder)
    except OSError as exc:
        raise WorkspaceError(f"get `{name}`: {(exc.strerror or str(exc)).lower()}") from exc
    except WorkspaceError as exc:
        raise WorkspaceError(f"get `{name}`: {exc}") from exc
    finally:
        await finish_in_thread(remove_tree, folder)
    return tree, version if version is not None else {"digest": tree.digest}


def fetch_key(type_name: str, source: Mapping[str, Any], version: Version, params: Mapping[str, Any]) -> str:
    """Name the content that fetching gives: who keeps artifacts under it need not fetch the same thing twice."""
    text = json.dumps([type_name, source, version, params], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

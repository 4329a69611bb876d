"""Brings versions of a resource into a run: finds what is new, and makes an artifact of one."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..errors import ResourceError, WorkspaceError
from ..workspace import ArtifactTree, RunWorkspace, finish_in_thread, remove_tree
from .base import ResourceType
from .history import VersionStore
from .kept import KeptVersions
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


def fetch_key(
    type_name: str,
    source: Mapping[str, Any],
    version: Version,
    params: Mapping[str, Any],
    identity: Mapping[str, Any] | None = None,
) -> str:
    """Name the content that fetching gives: who keeps artifacts under it need not fetch the same thing twice.

    `identity` is what the type adds (`ResourceType.fetch_identity`).
    """
    parts = [type_name, source, version, params, identity or {}]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def take_artifact_of(
    resource_type: ResourceType,
    source: Mapping[str, Any],
    version: Version | None,
    params: Mapping[str, Any],
    *,
    name: str,
    workspace: RunWorkspace,
    kept: KeptVersions | None,
) -> tuple[ArtifactTree, Version]:
    """Return one version as the artifact `name`: what is kept of it, else fetched anew and kept.

    Content that has no version but itself is fetched always. Raises: as `fetch_artifact`.
    """
    key = None
    if kept is not None and version is not None and resource_type.needs_check:
        key = fetch_key(resource_type.name, source, version, params, resource_type.fetch_identity())
        if (found := await finish_in_thread(kept.find, key, name)) is not None:
            return found, version
    tree, version = await fetch_artifact(resource_type, source, version, params, name=name, workspace=workspace)
    if kept is not None and key is not None:
        await finish_in_thread(kept.keep, key, tree)
    return tree, version

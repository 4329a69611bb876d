"""The tool `list_dir`: what is in a folder."""

import os
from pathlib import Path
from typing import Any

from pydantic import Field

from ..effects import RetryPolicy
from ..errors import WorkspaceError
from ..settings import LIST_DIR_ENTRIES, SEARCH_CONTENT_BYTES
from ..workspace import Root, shown
from .base import Tool, ToolContext, ToolResult, to_json
from .builtin import Arguments, file_error, local_file_tool
from .workers import run_in_thread


class ListDirArguments(Arguments):
    """What to list."""

    path: str = Field(".", description="Folder to list, relative to the working directory.")


async def list_dir(args: ListDirArguments, ctx: ToolContext) -> ToolResult:
    """Return `{path, entries: [{name, type, bytes}], total, truncated}`."""
    return await run_in_thread(_list, ctx.root, args.path)


def list_dir_tool(*, policy: RetryPolicy | None = None) -> Tool:
    """Build the tool."""
    return local_file_tool("list_dir", ListDirArguments, list_dir, is_read_only=True, spills=False, policy=policy)


def _list(root: Root, path: str) -> ToolResult:
    entries: list[dict[str, Any]] = []
    budget = SEARCH_CONTENT_BYTES
    try:
        folder = root.resolve(path)
        with os.scandir(folder) as listing:
            found = sorted(listing, key=lambda entry: os.fsencode(entry.name))
        for entry in found[:LIST_DIR_ENTRIES]:
            described = _describe(root, entry)
            budget -= len(to_json(described).encode()) + 1
            if budget < 0:
                break
            entries.append(described)
    except NotADirectoryError:
        return ToolResult.error(f"`{path}` is not a folder; read_file reads files")
    except (OSError, WorkspaceError) as exc:
        return file_error(path, exc, verb="list")
    is_cut = len(entries) < len(found)
    data = {"path": shown(root.relative(folder)), "entries": entries, "total": len(found), "truncated": is_cut}
    return ToolResult.of(data, is_truncated=is_cut)


def _describe(root: Root, entry: "os.DirEntry[str]") -> dict[str, Any]:
    """Describe one entry; a link says where it leads only when that is inside the root."""
    name = shown(entry.name)
    if entry.is_symlink():
        target = Path(os.path.realpath(entry.path))
        to = shown(root.relative(target)) if target.is_relative_to(root.path) else None
        return {"name": name, "type": "link", "to": to}
    if entry.is_dir(follow_symlinks=False):
        return {"name": name, "type": "folder"}
    if entry.is_file(follow_symlinks=False):
        return {"name": name, "type": "file", "bytes": entry.stat(follow_symlinks=False).st_size}
    return {"name": name, "type": "other"}

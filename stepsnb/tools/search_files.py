"""The tool `search_files`: lines by pattern, files by glob, bounded so that a result never spills."""

import threading
from typing import Literal

from pydantic import Field

from ..effects import RetryPolicy
from ..errors import WorkspaceError
from ..settings import SEARCH_HEAD_LIMIT, SEARCH_HEAD_LIMIT_MAX
from ..workspace import Root, check_glob
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, file_error, local_file_tool
from .search import BadPattern, Search, compile_pattern
from .workers import run_in_thread


class SearchFilesArguments(Arguments):
    """What to look for, where, and how to report it."""

    pattern: str | None = Field(None, description="Regular expression that a line must match somewhere.")
    glob: str | None = Field(None, description="Shell pattern that a file's path must match, such as `**/*.md`.")
    path: str = Field(".", description="Folder or file to search, relative to the working directory.")
    output_mode: Literal["files_with_matches", "content", "count"] = Field(
        "files_with_matches", description="Paths only, matching lines with their numbers, or matching lines per file."
    )
    head_limit: int = Field(
        SEARCH_HEAD_LIMIT, ge=1, description=f"How many results to return, {SEARCH_HEAD_LIMIT_MAX} at most."
    )


async def search_files(args: SearchFilesArguments, ctx: ToolContext) -> ToolResult:
    """Return the results of one mode with `total` and `truncated`."""
    stop = threading.Event()
    try:
        return await run_in_thread(_search, ctx.root, args, stop)
    finally:
        stop.set()


def search_files_tool(*, policy: RetryPolicy | None = None) -> Tool:
    """Build the tool."""
    return local_file_tool(
        "search_files", SearchFilesArguments, search_files, is_read_only=True, spills=False, policy=policy
    )


def _search(root: Root, args: SearchFilesArguments, stop: threading.Event) -> ToolResult:
    glob = args.glob.removeprefix("./") if args.glob else None
    if problem := _problem(args, glob):
        return ToolResult.error(problem)
    try:
        search = Search(
            root=root,
            path=root.resolve(args.path),
            is_match=compile_pattern(args.pattern) if args.pattern else None,
            glob=glob,
            limit=min(args.head_limit, SEARCH_HEAD_LIMIT_MAX),
            stop=stop,
        )
        match args.output_mode:
            case "files_with_matches":
                data = search.files()
            case "content":
                data = search.content()
            case "count":
                data = search.count()
    except BadPattern as exc:
        return ToolResult.error(f"`pattern` is not a regular expression that can be used: {exc}")
    except (OSError, WorkspaceError) as exc:
        return file_error(args.path, exc, verb="search")
    return ToolResult.of(data, is_truncated=bool(data["truncated"]))


def _problem(args: SearchFilesArguments, glob: str | None) -> str | None:
    if not args.pattern and not glob:
        return "nothing to look for; give `pattern`, `glob` or both"
    if not args.pattern and args.output_mode != "files_with_matches":
        return f"output_mode `{args.output_mode}` is about lines, so it needs a `pattern`; a `glob` alone finds files"
    return check_glob(glob) if glob else None

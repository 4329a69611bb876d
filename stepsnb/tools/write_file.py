"""The tool `write_file`: replaces a whole text file, or adds to its end."""

from pydantic import Field

from ..effects import RetryPolicy
from ..errors import WorkspaceError
from ..workspace import Root, decode_text, trim_partial
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, file_error, local_file_tool
from .workers import run_in_thread

_SNIFFED_BYTES = 64 * 1024


class WriteFileArguments(Arguments):
    """What to write, and where."""

    path: str = Field(description="File to write, relative to the working directory.")
    content: str = Field(description="The text to write.")
    append: bool = Field(False, description="Add to the end of the file instead of replacing it.")


async def write_file(args: WriteFileArguments, ctx: ToolContext) -> ToolResult:
    """Write the file and return `{path, bytes_written}`."""
    return await run_in_thread(_write, ctx.root, args)


def write_file_tool(*, policy: RetryPolicy | None = None) -> Tool:
    """Build the tool."""
    return local_file_tool("write_file", WriteFileArguments, write_file, policy=policy)


def _write(root: Root, args: WriteFileArguments) -> ToolResult:
    try:
        raw = args.content.encode("utf-8")
    except UnicodeEncodeError:
        return ToolResult.error("`content` holds half of a surrogate pair, which UTF-8 cannot write; send it without")
    try:
        if args.append and (encoding := _foreign_encoding(root, args.path)):
            return ToolResult.error(
                f"`{args.path}` is {encoding}, and adding UTF-8 would spoil it; write another file, or replace this one"
            )
        with root.open_write(args.path, append=args.append) as file:
            file.write(raw)
        path = root.relative(root.resolve(args.path))
    except IsADirectoryError:
        return ToolResult.error(f"`{args.path}` is a folder; name a file in it")
    except (FileNotFoundError, NotADirectoryError):
        parent = args.path.rstrip("/").rpartition("/")[0] or "."
        return ToolResult.error(
            f"there is no folder `{parent}`; write into one that is there, or make it first (run_shell: mkdir -p)"
        )
    except (OSError, WorkspaceError) as exc:
        return file_error(args.path, exc, verb="write")
    return ToolResult.of({"path": path, "bytes_written": len(raw)})


def _foreign_encoding(root: Root, path: str) -> str | None:
    """Say what an existing file is in when it is not UTF-8."""
    try:
        with root.open_read(path) as file:
            raw = file.read(_SNIFFED_BYTES)
    except FileNotFoundError:
        return None
    decoded = decode_text(trim_partial(raw) if len(raw) == _SNIFFED_BYTES else raw)
    if decoded is None:
        return "binary"
    return None if decoded.encoding == "utf-8" else f"in {decoded.encoding}"

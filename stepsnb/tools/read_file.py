"""The tool `read_file`: the text of a file, raw, in pages of 100,000 bytes."""

import io

from pydantic import Field

from ..effects import RetryPolicy
from ..errors import WorkspaceError
from ..settings import READ_FILE_BYTES, READ_FILE_MAX_BYTES
from ..workspace import DecodedText, Root, decode_text, trim_partial
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, file_error, local_file_tool
from .workers import run_in_thread


class ReadFileArguments(Arguments):
    """What to read."""

    path: str = Field(description="File to read, relative to the working directory.")
    start_line: int | None = Field(None, ge=1, description="First line to read, counted from 1.")
    end_line: int | None = Field(None, ge=1, description="Last line to read.")


async def read_file(args: ReadFileArguments, ctx: ToolContext) -> ToolResult:
    """Return lines `start_line` to `end_line` of a text file, at most `READ_FILE_BYTES` of them."""
    return await run_in_thread(_read, ctx.root, args)


def read_file_tool(*, policy: RetryPolicy | None = None) -> Tool:
    """Build the tool."""
    return local_file_tool("read_file", ReadFileArguments, read_file, is_read_only=True, spills=False, policy=policy)


def read_for_context(root: Root, path: str, max_bytes: int | None) -> ToolResult:
    """Read a file the way the tool does, but at most `max_bytes` of it; None reads all of it."""
    return _read(root, ReadFileArguments(path=path, start_line=None, end_line=None), max_bytes)


def _read(root: Root, args: ReadFileArguments, max_bytes: int | None = READ_FILE_BYTES) -> ToolResult:
    try:
        with root.open_read(args.path) as file:
            raw = file.read(READ_FILE_MAX_BYTES + 1)
            size = file.seek(0, 2)
    except IsADirectoryError:
        return ToolResult.error(f"`{args.path}` is a folder; list_dir shows what is in it")
    except (OSError, WorkspaceError) as exc:
        return file_error(args.path, exc, verb="read")
    if len(raw) > READ_FILE_MAX_BYTES:
        return ToolResult.error(
            f"`{args.path}` is too large to read ({size:,} bytes); take a part of it out with a shell command"
        )
    decoded = decode_text(raw)
    if decoded is None:
        return ToolResult.error(f"`{args.path}` is binary, not text ({len(raw):,} bytes)")
    return _page(decoded, args, max_bytes)


def _page(decoded: DecodedText, args: ReadFileArguments, max_bytes: int | None) -> ToolResult:
    notes = [] if decoded.encoding == "utf-8" else [f"this file is not UTF-8; it was read as {decoded.encoding}"]
    text, first = decoded.text, args.start_line or 1
    if args.start_line is not None or args.end_line is not None:
        lines = io.StringIO(text, newline="\n").readlines()  # `splitlines` would also end lines at form feeds and such
        if args.end_line is not None and args.end_line < first:
            return ToolResult.error(f"end_line {args.end_line} is before start_line {first}")
        if first > max(len(lines), 1):
            return ToolResult.error(f"`{args.path}` has {len(lines):,} lines; start_line {first} is past its end")
        text = "".join(lines[first - 1 : args.end_line])
    raw = text.encode()
    is_cut = max_bytes is not None and len(raw) > max_bytes
    if max_bytes is not None and is_cut:
        raw, note = _cut(raw, first, max_bytes)
        notes.append(note)
    content = raw.decode()
    if notes:
        content += ("" if content.endswith("\n") else "\n") + f"[{'; '.join(notes)}]"
    return ToolResult(content, is_truncated=is_cut)


def _cut(raw: bytes, first: int, max_bytes: int) -> tuple[bytes, str]:
    """Cut after the last whole line that fits, or inside the line when not even one does."""
    kept = raw[:max_bytes]
    whole = kept[: kept.rfind(b"\n") + 1]
    if not whole:
        kept = trim_partial(kept)
        skip = f"start_line {first + 1} reads on after it"
        return (
            kept,
            f"line {first:,} is longer than the {max_bytes:,} bytes one call reads, and is cut here; {skip}",
        )
    last = first + whole.count(b"\n") - 1
    return whole, f"cut after line {last:,}, at {max_bytes:,} bytes; read on with start_line {last + 1}"

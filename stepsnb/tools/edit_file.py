"""The tool `edit_file`: replaces a piece of a text file, and leaves every other byte as it is."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from pydantic import Field

from ..effects import RetryPolicy
from ..errors import WorkspaceError
from ..settings import READ_FILE_MAX_BYTES
from ..workspace import DecodedText, Root, decode_text
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, file_error, local_file_tool
from .edit_match import MAX_COUNTED, Found, Place, find_edit
from .workers import run_in_thread

_NAMED_PLACES = 10


class EditFileArguments(Arguments):
    """What to replace, and with what."""

    path: str = Field(description="File to edit, relative to the working directory.")
    old_string: str = Field(description="The text to replace, as it is in the file, white space included.")
    new_string: str = Field(description="What is to stand there instead; empty removes it.")
    replace_all: bool = Field(False, description="Replace it wherever it is, instead of in the one place.")


async def edit_file(args: EditFileArguments, ctx: ToolContext) -> ToolResult:
    """Edit the file and return `{replacements, first_line, match_mode}`."""
    return await run_in_thread(_edit, ctx.root, args)


def edit_file_tool(*, policy: RetryPolicy | None = None) -> Tool:
    """Build the tool."""
    return local_file_tool("edit_file", EditFileArguments, edit_file, policy=policy)


class _Refused(ValueError):
    """An edit that is not made; the message says why, and what to do."""


def _edit(root: Root, args: EditFileArguments) -> ToolResult:
    try:
        if not args.old_string:
            raise _Refused("`old_string` is empty; give the text to replace, or write the file with write_file")
        if args.old_string == args.new_string:
            raise _Refused("`old_string` and `new_string` are the same; nothing would change")
        with root.open_read(args.path) as file:
            raw = file.read(READ_FILE_MAX_BYTES + 1)
            size = file.seek(0, 2)
        decoded = _decode(args.path, raw, size)
        edited, data = _replace(args, decoded.text)
        root.replace_file(args.path, _encode(args.path, edited, decoded))
    except _Refused as exc:
        return ToolResult.error(str(exc))
    except FileNotFoundError:
        return ToolResult.error(f"there is no `{args.path}`; list_dir shows what is there, write_file makes a new file")
    except IsADirectoryError:
        return ToolResult.error(f"`{args.path}` is a folder; name a file in it")
    except (OSError, WorkspaceError) as exc:
        return file_error(args.path, exc, verb="edit")
    return ToolResult.of(data)


def _decode(path: str, raw: bytes, size: int) -> DecodedText:
    if size > READ_FILE_MAX_BYTES:
        raise _Refused(f"`{path}` is too large to edit ({size:,} bytes); change it with a shell command")
    decoded = decode_text(raw)
    if decoded is None:
        raise _Refused(f"`{path}` is binary, not text ({size:,} bytes); it cannot be edited")
    return decoded


def _encode(path: str, text: str, decoded: DecodedText) -> bytes:
    """Write the text in the file's own encoding, which gives every old character its old bytes."""
    try:
        return decoded.bom + text.encode(decoded.encoding)
    except UnicodeEncodeError as exc:
        odd = exc.object[exc.start]
        if "\ud800" <= odd <= "\udfff":
            raise _Refused("`new_string` holds half of a surrogate pair, which no file can; send it without") from exc
        raise _Refused(
            f"`{path}` is in {decoded.encoding}, which has no `{odd}`; write `new_string` without it"
        ) from exc


def _replace(args: EditFileArguments, raw: str) -> tuple[str, dict[str, object]]:
    """Return the edited text and what a model is told of it."""
    source = _Source(raw, is_verbatim="\r" in args.old_string)
    found = find_edit(source.text, args.old_string, args.new_string, every=args.replace_all)
    if found is None:
        raise _Refused(_not_found(args, source.text))
    if len(found.places) > 1 and not (args.replace_all and found.mode == "exact"):
        raise _Refused(_ambiguous(args.path, found, source.text))
    size = len(raw) + sum(len(place.replacement) - (place.end - place.start) for place in found.places)
    if size > max(READ_FILE_MAX_BYTES, len(raw)):
        raise _Refused(f"`{args.path}` would have {size:,} characters then, too many to be read again; write less")
    edited = source.edited(found.places)
    if edited == raw:
        raise _Refused(f"`{args.path}` has `new_string` in this place already; nothing would change")
    first_line = source.text.count("\n", 0, found.places[0].start) + 1
    return edited, {"replacements": len(found.places), "first_line": first_line, "match_mode": found.mode}


class _Source:
    """A file's text, in which CRLF counts as a line end like LF unless the edit speaks of it itself."""

    def __init__(self, raw: str, *, is_verbatim: bool) -> None:
        self._raw = raw
        self.text = raw if is_verbatim else raw.replace("\r\n", "\n")
        self._crlf: list[int] = []  # where in `text` a line end stands for two characters
        if len(self.text) < len(raw):
            ends = (found.start() for found in re.finditer("\r\n", raw))
            self._crlf = [end - number for number, end in enumerate(ends)]

    def edited(self, places: Sequence[Place]) -> str:
        """Return the text with the replacements in their places, their lines ending as those around them."""
        pieces: list[str] = []
        done = 0
        for place in places:
            start, end = self._raw_offset(place.start), self._raw_offset(place.end)
            pieces += (self._raw[done:start], self._with_own_ends(place.replacement, start, end))
            done = end
        return "".join([*pieces, self._raw[done:]])

    def _raw_offset(self, offset: int) -> int:
        return offset + bisect_left(self._crlf, offset)

    def _with_own_ends(self, replacement: str, start: int, end: int) -> str:
        if not self._crlf or "\n" not in replacement:
            return replacement
        nearest = self._raw.find("\n", start)
        if nearest < 0:
            nearest = self._raw.rfind("\n", 0, end)
        if self._raw[nearest - 1 : nearest] != "\r":
            return replacement
        return replacement.replace("\r\n", "\n").replace("\n", "\r\n")


def _not_found(args: EditFileArguments, text: str) -> str:
    first = next((line.strip() for line in args.old_string.split("\n") if line.strip()), "")
    near = [number for number, line in enumerate(text.split("\n"), 1) if first and line.strip() == first]
    hint = f"; its first line is {_in_lines(near)}, and what follows differs" if near else ""
    return (
        f"`old_string` is not in `{args.path}`{hint}; read the file again with read_file and copy the text to replace "
        "from there, with its indentation"
    )


def _ambiguous(path: str, found: Found, text: str) -> str:
    many = "100 or more" if len(found.places) >= MAX_COUNTED else str(len(found.places))
    named = found.places[: _NAMED_PLACES + 1]
    where = _in_lines([text.count("\n", 0, place.start) + 1 for place in named])
    if found.mode == "exact":
        return (
            f"`old_string` is in `{path}` {many} times, {where}; add the lines around it so that it is there only "
            "once, or set `replace_all` to replace it everywhere"
        )
    return (
        f"`old_string` is not in `{path}` as you wrote it, and {many} places are like it, {where}; copy the text to "
        "replace exactly from the file, with the lines around it"
    )


def _in_lines(numbers: Sequence[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED_PLACES]))
    return f"in line{'s' if len(numbers) > 1 else ''} {named}{' and more' if len(numbers) > _NAMED_PLACES else ''}"

"""How a built-in tool is put together: its arguments model, its `.md` description, its function."""

import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from ..errors import WorkspaceError
from .base import Tool, ToolContext, ToolResult
from .schema import schema_of


class Arguments(BaseModel):
    """The arguments of one tool; what the model makes up beside them is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


A = TypeVar("A", bound=Arguments)


def builtin_tool(
    name: str, arguments: type[A], call: Callable[[A, ToolContext], Awaitable[ToolResult]], **traits: Any
) -> Tool:
    """Build a tool of ours; `traits` are further fields of `Tool`."""
    return Tool(
        name=name,
        description=description_of(name),
        parameters=schema_of(arguments),
        call=call,
        check=arguments.model_validate,
        **traits,
    )


def description_of(name: str) -> str:
    """Read what a model is told of a tool of ours."""
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()


def local_file_tool(
    name: str, arguments: type[A], call: Callable[[A, ToolContext], Awaitable[ToolResult]], **traits: Any
) -> Tool:
    """Build a tool of ours that works on files here: a call is short, and one cut off could leave half a file."""
    return builtin_tool(name, arguments, call, is_uninterruptible=True, **traits)


def file_error(path: str, exc: OSError | WorkspaceError, *, verb: str) -> ToolResult:
    """Tell the model why a file cannot be read or written, without showing where it lies on this machine."""
    if isinstance(exc, WorkspaceError):
        return ToolResult.error(str(exc))
    if isinstance(exc, FileNotFoundError):
        return ToolResult.error(f"there is no `{path}`; list_dir shows what is there")
    if isinstance(exc, NotADirectoryError):
        return ToolResult.error(f"`{path}` leads through something that is not a folder; list_dir shows what is there")
    if exc.errno == errno.ENAMETOOLONG:
        return ToolResult.error(f"cannot {verb} a path of {len(path)} characters; use a shorter one")
    return ToolResult.error(f"cannot {verb} `{path}`: {(exc.strerror or type(exc).__name__).lower()}")

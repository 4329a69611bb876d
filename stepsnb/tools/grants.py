"""Builds the tools an agent is granted, and of these the ones a step selects."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..config import DEFAULT_TOOLS, BuiltinGrant, Grant, PythonGrant
from ..errors import InputError
from ..suggest import unknown_name
from .ask_user import ask_user_tool
from .base import Tool
from .list_dir import list_dir_tool
from .python_tool import python_tool
from .read_file import read_file_tool
from .run_shell import run_shell_tool
from .search_files import search_files_tool
from .write_file import write_file_tool

Functions = Mapping[str, Callable[..., Any]]
"""The notebook's functions by name."""

_BUILTIN: Mapping[str, Callable[[BuiltinGrant], Tool]] = {
    "read_file": lambda grant: read_file_tool(),
    "list_dir": lambda grant: list_dir_tool(),
    "search_files": lambda grant: search_files_tool(),
    "write_file": lambda grant: write_file_tool(),
    "run_shell": lambda grant: run_shell_tool(timeout_s=grant.timeout_s),
    "ask_user": lambda grant: ask_user_tool(
        default=grant.default,
        timeout_s=grant.timeout_s,
        options_required=grant.options_required,
        required=grant.required,
    ),
}


def build_tools(
    grants: Sequence[Grant] | None, *, selected: tuple[str, ...] | None, functions: Functions
) -> tuple[Tool, ...]:
    """Build what `grants` names, in order; of it what `selected` names.

    Args:
        grants: None grants what reads and changes nothing.
        selected: Names a step asks for; None takes the whole grant.
        functions: Where a Python grant's function is looked up; `module:function` is imported.

    Raises: InputError for a function that is not there or no tool, and for a name that comes twice or is not granted.
    """
    if grants is None:
        grants = [BuiltinGrant.model_validate({"builtin": name}) for name in DEFAULT_TOOLS]
    granted = [grant.name for grant in grants]
    for name in granted:
        if granted.count(name) > 1:
            raise InputError(f"tool `{name}` is granted twice; a model could not tell them apart, so rename one")
    for name in selected or ():
        if name not in granted:
            raise InputError(f"{unknown_name('tool', name, granted)}; a step selects from what its agent is granted")
    return tuple(_build(grant, functions) for grant in grants if selected is None or grant.name in selected)


def _build(grant: Grant, functions: Functions) -> Tool:
    match grant:
        case PythonGrant():
            return python_tool(_find(grant.python, functions), name=grant.name, required=grant.required)
        case _:
            return _BUILTIN[grant.builtin](grant)


def _find(name: str, functions: Functions) -> Callable[..., Any]:
    module_name, _, attribute = name.rpartition(":")
    if module_name:
        return _import(name, module_name, attribute)
    if name not in functions:
        raise InputError(
            f"{unknown_name('function', name, functions)}; define it before the run, or write `module:function`"
        )
    return _callable(name, functions[name])


def _import(name: str, module_name: str, attribute: str) -> Callable[..., Any]:
    try:
        module = importlib.import_module(module_name)
    except Exception as exc:  # importing runs code of the user's, which may raise anything
        raise InputError(
            f"python tool `{name}`: importing `{module_name}` failed: {type(exc).__name__}: {exc}"
        ) from exc
    if not hasattr(module, attribute):
        names = [known for known in vars(module) if not known.startswith("_") and callable(getattr(module, known))]
        raise InputError(f"python tool `{name}`: {unknown_name('function', attribute, names)}")
    return _callable(name, getattr(module, attribute))


def _callable(name: str, found: object) -> Callable[..., Any]:
    if not callable(found) or isinstance(found, type):
        raise InputError(f"python tool `{name}`: it is {_kind(found)}, not a function")
    return found


def _kind(value: object) -> str:
    return "a class" if isinstance(value, type) else f"a value of type `{type(value).__name__}`"

"""Finds what a pipeline names of Python: something of the notebook by its name, or `module:NAME`."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InputError
from ..suggest import unknown_name

Functions = Mapping[str, Callable[..., Any]]
"""The notebook's functions and classes by name."""


def find_function(name: str, functions: Functions) -> Callable[..., Any]:
    """Return the function of a Python tool. Raises: InputError."""
    found = _find(name, functions, where=f"python tool `{name}`", kind="function")
    if not callable(found) or isinstance(found, type):
        raise InputError(f"python tool `{name}`: it is {_kind(found)}, not a function")
    function: Callable[..., Any] = found
    return function


def find_class(name: str, functions: Functions, *, where: str) -> type:
    """Return a class; `where` begins the message when it is none. Raises: InputError."""
    found = _find(name, functions, where=where, kind="class")
    if not isinstance(found, type):
        raise InputError(f"{where}: `{name}` is {_kind(found)}, not a class")
    return found


def _find(name: str, functions: Functions, *, where: str, kind: str) -> Any:
    module_name, _, attribute = name.rpartition(":")
    if module_name:
        return _import(module_name, attribute, where=where, kind=kind)
    if name not in functions:
        known = [found for found in functions if _is_a(kind, functions.get(found))]
        raise InputError(f"{unknown_name(kind, name, known)}; define it before the run, or write `module:{kind}`")
    return functions[name]


def _is_a(kind: str, value: object) -> bool:
    return callable(value) and isinstance(value, type) == (kind == "class")


def _import(module_name: str, attribute: str, *, where: str, kind: str) -> Any:
    try:
        module = importlib.import_module(module_name)
    except Exception as exc:  # importing runs code of the user's, which may raise anything
        raise InputError(f"{where}: importing `{module_name}` failed: {type(exc).__name__}: {exc}") from exc
    if not hasattr(module, attribute):
        names = [known for known in vars(module) if not known.startswith("_") and callable(getattr(module, known))]
        raise InputError(f"{where}: {unknown_name(kind, attribute, names)}")
    return getattr(module, attribute)


def _kind(value: object) -> str:
    return "a class" if isinstance(value, type) else f"a value of type `{type(value).__name__}`"

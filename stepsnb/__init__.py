"""stepsnb: run LLM agents from notebooks.

Everything is imported on first use, so that `import stepsnb` and `%load_ext stepsnb` stay light.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import settings

if TYPE_CHECKING:
    from .api import (
        LoadedPipeline,
        OpenRun,
        Run,
        RunHandle,
        answer,
        approvals,
        approve,
        cap,
        copy,
        cost,
        diff,
        freeze,
        load,
        models,
        plot,
        preflight,
        questions,
        reject,
        replay,
        requests,
        resume,
        runs,
        show,
        sql,
        steps,
        tool_calls,
        trajectory,
        transcript,
        turns,
        validate,
        vary,
    )
    from .api import run_tests as test
    from .api.watching import watch
    from .config import schema
    from .errors import StepsError, ToolError
    from .notebook.placed import live_view
    from .outcome import Outcome
    from .store import Store

__version__ = settings.VERSION

_HOMES = {
    "LoadedPipeline": "api",
    "OpenRun": "api",
    "Outcome": "outcome",
    "Run": "api",
    "RunHandle": "api",
    "StepsError": "errors",
    "Store": "store",
    "ToolError": "errors",
    "answer": "api",
    "approvals": "api",
    "approve": "api",
    "reject": "api",
    "cap": "api",
    "copy": "api",
    "cost": "api",
    "diff": "api",
    "freeze": "api",
    "live_view": "notebook.placed",
    "load": "api",
    "map": "api:map_rows",
    "models": "api",
    "mcp": "mcp",
    "plan": "plan",
    "plot": "api",
    "preflight": "api",
    "questions": "api",
    "replay": "api",
    "requests": "api",
    "resume": "api",
    "open": "api:open_files",
    "run": "run",
    "runs": "api",
    "show": "api",
    "store": "store",
    "test": "api:run_tests",
    "validate": "api",
    "vary": "api",
    "schema": "config",
    "sql": "api",
    "steps": "api",
    "tool_calls": "api",
    "trajectory": "api",
    "transcript": "api",
    "turns": "api",
    "watch": "api",
}

__all__ = [
    "LoadedPipeline",
    "OpenRun",
    "Outcome",
    "Run",
    "RunHandle",
    "StepsError",
    "Store",
    "ToolError",
    "answer",
    "approvals",
    "approve",
    "cap",
    "copy",
    "cost",
    "diff",
    "freeze",
    "live_view",
    "load",
    "models",
    "plan",
    "plot",
    "preflight",
    "questions",
    "reject",
    "replay",
    "requests",
    "resume",
    "run",
    "runs",
    "schema",
    "show",
    "sql",
    "steps",
    "test",
    "tool_calls",
    "trajectory",
    "transcript",
    "turns",
    "validate",
    "vary",
    "watch",
]


_VERBS_TOO = {"mcp": "mcp", "plan": "plan", "run": "run_job", "store": "store_verb"}
"""Packages that have the name of a verb, with its function: `stepsnb.plan` is the planner, `stepsnb.plan(…)` plans."""


class _VerbPackage(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        verb = getattr(import_module(".api", __package__), _VERBS_TOO[self.__name__.rpartition(".")[2]])
        return verb(*args, **options)


class _Package(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        # The import system puts a package into the one around it when it is first imported, whoever does.
        if name in _VERBS_TOO and isinstance(value, ModuleType):
            value.__class__ = _VerbPackage
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module `stepsnb` has no attribute `{name}`")
    if name in _VERBS_TOO:
        return import_module(f".{name}", __name__)
    home, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(f".{home}", __name__), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; what `%load_ext stepsnb` calls."""
    import_module(".notebook.extension", __name__).load_ipython_extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics out again."""
    import_module(".notebook.extension", __name__).unload_ipython_extension(shell)

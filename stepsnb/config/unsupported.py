"""Keys of the language this version knows and cannot do yet, each with what to do instead.

They are load errors: a key that reads as configured and binds nothing is worse than one that is refused.
"""

from collections.abc import Mapping
from typing import Final

Unsupported = Mapping[str, str]

_REMOVE = "remove it"


def _all(instead: str, *keys: str) -> dict[str, str]:
    return dict.fromkeys(keys, instead)


PIPELINE: Final[Unsupported] = {"executor": _REMOVE}
DEFAULTS: Final[Unsupported] = _all(_REMOVE, "delegate_budget_percent")
JOB: Final[Unsupported] = {"budget": "give the cells of a matrix one with `across:` and `budget:`, or remove it"}
RESOURCE_TYPE: Final[Unsupported] = {"mcp": "write `check:`, `in:` and `out:` as programs"}
AGENT: Final[Unsupported] = _all(_REMOVE, "budget", "delegate_budget_percent", "fallback", "settings")
AGENT_STEP: Final[Unsupported] = {"fallback": _REMOVE}
BUILTIN_GRANT: Final[Unsupported] = _all(_REMOVE, "allow", "answered_by")
TOOLS: Final[Unsupported] = {"web_fetch": "fetch in a task step, or with a Python tool"}

COVERED: Final[Mapping[str, str]] = {}
"""Unsupported keys that stand in for a required one; its absence is then no second problem."""

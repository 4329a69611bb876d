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
DEFAULTS: Final[Unsupported] = {}
JOB: Final[Unsupported] = {}
RESOURCE_TYPE: Final[Unsupported] = {}
AGENT: Final[Unsupported] = _all(_REMOVE, "settings")

COVERED: Final[Mapping[str, str]] = {}
"""Unsupported keys that stand in for a required one; its absence is then no second problem."""

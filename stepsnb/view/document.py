"""A JSON-able value that remembers how it changed, and the function that repeats those changes elsewhere.

A patch is `{"op": "set" | "push" | "append", "path": [...], "value": ...}`: replace what is at the path, add an
element to the list there, or add text to the string there. `run_view.js` has the same function in JavaScript.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

Path = tuple[str | int, ...]
Patch = dict[str, Any]


def apply_patches(state: dict[str, Any], patches: Iterable[Mapping[str, Any]]) -> None:
    """Change `state` in place as `patches` say; this is what every front end does with them."""
    for patch in patches:
        *parents, last = patch["path"]
        target: Any = state
        for key in parents:
            target = target[key]
        match patch["op"]:
            case "set":
                target[last] = copy.deepcopy(patch["value"])
            case "push":
                target[last].append(copy.deepcopy(patch["value"]))
            case "append":
                target[last] += patch["value"]
            case op:
                raise ValueError(f"unknown patch operation `{op}`; available: append, push, set")


class Document:
    """A value changed by patches only, so that whoever repeats them holds the same value.

    Within one batch, text added to one place and figures set at one place are merged; what was taken once is
    never sent again.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self._patches: list[Patch] = []
        self._open: dict[Path, Patch] = {}

    def get(self, path: Path) -> Any:
        """Return what is at `path`; not a copy, and only to be read."""
        found: Any = self.value
        for key in path:
            found = found[key]
        return found

    def set(self, path: Path, value: Any) -> None:
        """Replace what is at `path`; nothing is recorded when it is that already."""
        if self.get(path) == value:
            return
        if isinstance(value, dict | list):
            # What was set inside the old value must not be merged into what comes after the new one.
            self._open = {known: patch for known, patch in self._open.items() if known[: len(path)] != path}
            self._record("set", path, value)
        elif (patch := self._open.get(path)) is not None:
            apply_patches(self.value, [{"op": "set", "path": path, "value": value}])
            patch["op"], patch["value"] = "set", value
        else:
            self._open[path] = self._record("set", path, value)

    def push(self, path: Path, value: Any) -> Path:
        """Add `value` to the list at `path` and return the path of the new element."""
        self._record("push", path, value)
        return (*path, len(self.get(path)) - 1)

    def append(self, path: Path, text: str) -> None:
        """Add `text` to the string at `path`."""
        if not text:
            return
        if (patch := self._open.get(path)) is not None:
            apply_patches(self.value, [{"op": "append", "path": path, "value": text}])
            patch["value"] += text
        else:
            self._open[path] = self._record("append", path, text)

    def take_patches(self) -> list[Patch]:
        """Return what changed since the last take, oldest first."""
        taken, self._patches, self._open = self._patches, [], {}
        return taken

    def _record(self, op: str, path: Path, value: Any) -> Patch:
        patch: Patch = {"op": op, "path": list(path), "value": copy.deepcopy(value)}
        apply_patches(self.value, [patch])
        self._patches.append(patch)
        return patch

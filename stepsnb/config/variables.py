"""`((name))` in scalars: replaced by values from outside while the tree is built."""

import json
import re
from collections.abc import Mapping

from ..settings import YAML_DEPTH
from ..suggest import did_you_mean
from .frames import is_frame, to_markdown
from .problems import Problems
from .tree import Entries, Items, Mark, Path, Scalar, Tree

_PLACEHOLDER = re.compile(r"\(\(\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\)\)")
_SHELL_PLACEHOLDER = re.compile(r"(?<!\$)" + _PLACEHOLDER.pattern)
"""In a shell program `$((name))` is arithmetic."""


class Variables:
    """The values `((name))` may take, and how each kind of value enters a text.

    A value is never searched for further placeholders.
    """

    def __init__(self, values: Mapping[str, object], problems: Problems) -> None:
        self._values = values
        self._problems = problems

    def expand(self, scalar: Scalar, path: Path) -> Tree:
        """Replace the placeholders of `scalar`: one that stands alone by its value, others by its text."""
        if "((" not in scalar.text:
            return scalar
        alone = _PLACEHOLDER.fullmatch(scalar.text)
        if alone:
            return self._alone(alone[1], scalar.mark, path)
        return Scalar(self._inside(scalar, path), scalar.mark, is_plain=scalar.is_plain)

    def expand_key(self, key: str, mark: Mark, path: Path) -> str:
        """Replace placeholders in a key, always as text."""
        return self._inside(Scalar(key, mark), path) if "((" in key else key

    def _alone(self, name: str, mark: Mark, path: Path) -> Tree:
        value = self._values.get(name)
        if value is None:
            self._problems.add_lost(mark, path, self._unset(name))
            return Scalar(f"(({name}))", mark)
        return self._tree(value, name, mark, path)

    def _inside(self, scalar: Scalar, path: Path) -> str:
        def replace(found: re.Match[str]) -> str:
            value = self._values.get(found[1])
            if value is None:
                self._problems.add_lost(scalar.mark, path, self._unset(found[1]))
                return found[0]
            return self._text(value, found[1], scalar.mark, path)

        pattern = _SHELL_PLACEHOLDER if path and path[-1] == "run" else _PLACEHOLDER
        return pattern.sub(replace, scalar.text)

    def _unset(self, name: str) -> str:
        if name in self._values:
            what = f"`(({name}))` is None"
        else:
            what = f"`(({name}))` has no value{did_you_mean(name, self._values)}"
        return f"{what}; set it with `--var {name}=…`, `--use {name}` in a notebook, or `vars=` in Python"

    def _tree(self, value: object, name: str, mark: Mark, path: Path) -> Tree:
        if len(path) > YAML_DEPTH:
            self._problems.add(mark, path, f"`(({name}))` is nested deeper than {YAML_DEPTH} levels; pass less")
            raise self._problems.error()
        if isinstance(value, Mapping):
            entries = Entries(mark, path)
            for key, entry in value.items():
                entries.put(str(key), self._tree(entry, name, mark, (*path, str(key))), mark)
            return entries
        if isinstance(value, list | tuple):
            items = Items(mark, path)
            items.extend(self._tree(item, name, mark, (*path, index)) for index, item in enumerate(value))
            return items
        if value is None:
            return Scalar("", mark, is_null=True)
        return Scalar(self._text(value, name, mark, path), mark)

    def _text(self, value: object, name: str, mark: Mark, path: Path) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Mapping | list | tuple):
            try:
                return json.dumps(value, ensure_ascii=False, default=str)
            except (TypeError, ValueError):  # keys that are no texts, or a list that contains itself
                return str(value)
        if not is_frame(value):
            return str(value)
        if not {"prompt", "messages"}.intersection(path[-2:]):
            text = f"`(({name}))` is a DataFrame; use it in `messages:` or `prompt:`, elsewhere pass text"
            self._problems.add_lost(mark, path, text)
            return name
        return to_markdown(value)

"""`((name))` in scalars: replaced by values from outside while the tree is built."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from ..settings import YAML_DEPTH
from ..suggest import did_you_mean
from .frames import is_frame, to_markdown
from .problems import Problems
from .tree import Entries, Items, Mark, Path, Scalar, Tree
from .var_scopes import VarScopes

_PLACEHOLDER = re.compile(r"\(\(\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\)\)")
_SHELL_PLACEHOLDER = re.compile(r"(?<!\$)" + _PLACEHOLDER.pattern)
"""In a shell program `$((name))` is arithmetic."""

_PROGRAM_KEYS = frozenset({"run", "when", "check", "in", "out"})


def deferred_names(tree: Tree, skip: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the variables that scalars below `tree` wait for, without what stands under the keys in `skip`."""
    match tree:
        case Entries():
            parts = [deferred_names(value, skip) for key, value in tree.items() if key not in skip]
        case Items():
            parts = [deferred_names(item, skip) for item in tree]
        case _:
            return tree.waits_for
    return frozenset[str]().union(*parts)


class Variables:
    """The values `((name))` may take, and how each kind of value enters a text.

    A value is never searched for further placeholders. A variable that a step before sets during the run stays a
    placeholder, whatever value it has outside; `leaves_some` says that there was one.
    """

    def __init__(self, values: Mapping[str, object], problems: Problems, scopes: VarScopes) -> None:
        self._values = values
        self._problems = problems
        self._scopes = scopes
        self.leaves_some = False

    def expand(self, scalar: Scalar, path: Path) -> Tree:
        """Replace the placeholders of `scalar`: one that stands alone by its value, others by its text."""
        if "((" not in scalar.text:
            return scalar
        alone = _PLACEHOLDER.fullmatch(scalar.text)
        if alone:
            return self._alone(alone[1], scalar, path)
        waits_for: set[str] = set()
        text = self._inside(scalar, path, waits_for)
        return Scalar(text, scalar.mark, is_plain=scalar.is_plain, waits_for=frozenset(waits_for))

    def expand_tree(self, tree: Tree, path: Path) -> Tree:
        """Replace the placeholders that were left in `tree`, which stands at `path`."""
        match tree:
            case Entries():
                entries = Entries(tree.mark, tree.path)
                for key, value in tree.items():
                    entries.put(key, self.expand_tree(value, (*path, key)), tree.key_marks[key])
                return entries
            case Items():
                items = Items(tree.mark, tree.path)
                items.extend(self.expand_tree(item, (*path, index)) for index, item in enumerate(tree))
                return items
            case _:
                return self.expand(tree, path) if tree.waits_for else tree

    def expand_key(self, key: str, mark: Mark, path: Path) -> str:
        """Replace placeholders in a key, always as text."""
        if "((" not in key:
            return key
        waits_for: set[str] = set()
        text = self._inside(Scalar(key, mark), path, waits_for)
        for name in sorted(waits_for):
            problem = f"a key cannot hold `(({name}))`, which has its value only during the run; write the key out"
            self._problems.add_lost(mark, path, problem)
        return text

    def _alone(self, name: str, scalar: Scalar, path: Path) -> Tree:
        if self._waits(name, path):
            return replace(scalar, waits_for=frozenset({name}))
        value = self._values.get(name)
        if value is None:
            self._problems.add_lost(scalar.mark, path, self._unset(name))
            return Scalar(f"(({name}))", scalar.mark)
        return self._tree(value, name, scalar.mark, path)

    def _inside(self, scalar: Scalar, path: Path, waits_for: set[str]) -> str:
        def put_in(found: re.Match[str]) -> str:
            if self._waits(found[1], path):
                waits_for.add(found[1])
                return found[0]
            value = self._values.get(found[1])
            if value is None:
                self._problems.add_lost(scalar.mark, path, self._unset(found[1]))
                return found[0]
            return self._text(value, found[1], scalar.mark, path)

        pattern = _SHELL_PLACEHOLDER if path and path[-1] in _PROGRAM_KEYS else _PLACEHOLDER
        return pattern.sub(put_in, scalar.text)

    def _waits(self, name: str, path: Path) -> bool:
        is_left = self._scopes.covers(name, path)
        self.leaves_some = self.leaves_some or is_left
        return is_left

    def _unset(self, name: str) -> str:
        line = self._scopes.line_of(name)
        if line is not None and name not in self._values:
            what = f"`(({name}))` is set by the `load_var:` on line {line}, which is no step before this one"
            return f"{what}; move it before, or set `{name}` from outside with `--var {name}=…`"
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

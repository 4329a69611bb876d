"""Which steps see the variables that `load_var` steps set during the run."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import yaml

from ..settings import YAML_ALIASED_VALUES, YAML_DEPTH
from .tree import Mark, Path

_KEY: Final = "load_var"
_IN_ORDER: Final = frozenset({"plan", "do"})
"""Keys of lists whose steps follow one another."""

_HIDDEN: Final = frozenset({"race", "on_success", "on_failure", "on_error", "on_abort", "ensure"})
"""Keys of steps of which nobody can say that they have run when the next step does."""


class _Setter(NamedTuple):
    path: Path
    mark: Mark


class VarScopes:
    """Where the variables of a text are set, by name."""

    def __init__(self, setters: Mapping[str, tuple[_Setter, ...]], *, everywhere: frozenset[str] = frozenset()) -> None:
        self._setters = setters
        self._everywhere = everywhere

    @classmethod
    def of(cls, root: yaml.Node) -> "VarScopes":
        """Find every `load_var` below `root`."""
        found: dict[str, tuple[_Setter, ...]] = {}
        for name, setter in _setters(root):
            found[name] = (*found.get(name, ()), setter)
        return cls(found)

    @classmethod
    def waiting_for(cls, names: frozenset[str]) -> "VarScopes":
        """Build the scopes of a single step that waits for `names`."""
        return cls({}, everywhere=names)

    def covers(self, name: str, path: Path) -> bool:
        """Say whether a step that comes before `path` sets the variable `name`."""
        if name in self._everywhere:
            return True
        return any(_comes_before(setter.path, path) for setter in self._setters.get(name, ()))

    def line_of(self, name: str) -> int | None:
        """Return the first line that sets `name`; None when nothing does."""
        setters = self._setters.get(name, ())
        return min((setter.mark.line for setter in setters), default=None)


def _comes_before(setter: Path, use: Path) -> bool:
    for depth, (one, other) in enumerate(zip(setter, use, strict=False)):
        if one != other:
            is_earlier = isinstance(one, int) and isinstance(other, int) and one < other
            is_in_order = depth == 0 or setter[depth - 1] in _IN_ORDER
            return is_earlier and is_in_order and _HIDDEN.isdisjoint(map(str, setter[depth + 1 :]))
    return False


def _setters(root: yaml.Node) -> Iterator[tuple[str, _Setter]]:
    """Yield each `load_var` with its name; as deep, and through as many aliases, as a text is read at all."""
    seen: set[int] = set()
    aliased = 0
    ahead: list[tuple[yaml.Node, Path]] = [(root, ())]
    while ahead and aliased <= YAML_ALIASED_VALUES:
        node, path = ahead.pop()
        if isinstance(node, yaml.ScalarNode) or len(path) > YAML_DEPTH:
            continue
        aliased += id(node) in seen
        seen.add(id(node))
        is_mapping = isinstance(node, yaml.MappingNode)
        for index, entry in enumerate(node.value):
            key, value = entry if is_mapping else (None, entry)
            ahead.append((value, (*path, index if key is None else key.value)))
            if key is not None and key.value == _KEY and isinstance(value, yaml.ScalarNode):
                yield value.value, _Setter(path, Mark(key.start_mark.line + 1, key.start_mark.column + 1))

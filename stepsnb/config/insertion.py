"""Puts entries into the text of a YAML document where they belong; every other byte stays as it is."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

Path: TypeAlias = "tuple[str | int, ...]"

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Texts that a reader of YAML, if not ours, takes for something else."""


@dataclass(frozen=True, slots=True)
class Insertion:
    """Entries for the mapping at a place: keys and values that it has not."""

    path: Path
    entries: Mapping[str, Any]


def find_node(root: yaml.Node | None, path: Path) -> yaml.Node | None:
    """Return the node at a place; None when there is none."""
    node = root
    for part in path:
        if isinstance(node, yaml.MappingNode) and isinstance(part, str):
            node = next((value for key, value in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
        else:
            return None
    return node


def insert(text: str, insertions: Sequence[Insertion]) -> str:
    """Return the text with the entries in it. Mappings that are not there are left out.

    One that several places share, by an alias, gets what all of them are to have.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    found: dict[int, tuple[yaml.MappingNode, dict[str, Any]]] = {}
    for each in insertions:
        node = find_node(root, each.path)
        if isinstance(node, yaml.MappingNode):
            _, known = found.setdefault(id(node), (node, dict(each.entries)))
            for name in [name for name in known if known[name] != each.entries.get(name)]:
                del known[name]
    edits = [_edit(text, node, entries) for node, entries in found.values() if entries]
    # From the end; where several mappings end at once, what is innermost comes first in the text.
    for place, _, added in sorted(edits, key=lambda edit: (-edit[0], edit[1])):
        text = text[:place] + added + text[place:]
    return text


def _edit(text: str, node: yaml.MappingNode, entries: Mapping[str, Any]) -> tuple[int, int, str]:
    """Return where entries go into a mapping, the column it stands in, and as what they go there."""
    column = node.start_mark.column
    if node.flow_style:
        place = text.rindex("}", node.start_mark.index, node.end_mark.index)
        before = text[:place].rstrip()
        gap = "" if before.endswith(("{", ",")) else ","
        space = "" if before.endswith("{") and text[len(before) : place] == "" else " "
        written = ", ".join(f"{_scalar(name)}: {flow(value)}" for name, value in entries.items())
        return len(before), column, f"{gap}{space}{written}"
    lines = [f"{' ' * column}{_scalar(name)}: {flow(value)}\n" for name, value in entries.items()]
    place = _end_of(text, node, column)
    return place, column, ("" if place == 0 or text[place - 1] == "\n" else "\n") + "".join(lines)


def _end_of(text: str, node: yaml.MappingNode, column: int) -> int:
    """Return where the last entry of a mapping in block style ends, before blank lines and comments that follow it."""
    lines = text[: node.end_mark.index].splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n") and not lines[-1].strip():
        lines.pop()
    while lines and (not lines[-1].strip() or _is_comment_behind(lines[-1], column)):
        lines.pop()
    return sum(map(len, lines))


def _is_comment_behind(line: str, column: int) -> bool:
    """Whether a line is a comment about what follows; one that stands deeper may be part of a text."""
    return line.lstrip().startswith("#") and len(line) - len(line.lstrip()) <= column


def flow(value: Any) -> str:
    """Write a value on one line."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{_scalar(name)}: {flow(each)}" for name, each in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(flow(each) for each in value) + "]"
        case str():
            return _scalar(value)
    return json.dumps(value)


def _scalar(text: str) -> str:
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)

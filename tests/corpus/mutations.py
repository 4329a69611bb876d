"""Makes the asserts of a pipeline false, one `assert:` at a time, and names what must then be complained of."""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

OTHER_OUTCOME = {"succeeded": "failed", "failed": "succeeded", "errored": "aborted", "aborted": "succeeded"}


@dataclass(frozen=True)
class Mutant:
    """A pipeline with one `assert:` that is false in all its parts.

    `job` is the one it stands in, None for the pipeline's own; `complaints` are the words that must be said of it.
    """

    name: str
    text: str
    job: str | None
    complaints: tuple[str, ...]


def mutants_of(text: str) -> list[Mutant]:
    """Return one mutant for each `assert:` of a pipeline; one that stands behind an alias counts at each place."""
    count = sum(1 for _ in _asserts(_read(text)))
    return [_mutant(text, index) for index in range(count)]


@dataclass(frozen=True)
class _Assert:
    path: tuple[str, ...]
    node: yaml.MappingNode
    verdicts: tuple[str, ...]


def _mutant(text: str, index: int) -> Mutant:
    root = _read(text)
    asserted = list(_asserts(root))[index]
    job = None
    if asserted.path[0] == "jobs":
        job = _value(_items(_value(root, "jobs"))[int(asserted.path[1])], "name").value
    complaints = tuple(_falsify(asserted))
    return Mutant(".".join(asserted.path), yaml.serialize(root, allow_unicode=True), job, complaints)


def _read(text: str) -> yaml.Node:
    return _own_copy(yaml.compose(text, Loader=yaml.SafeLoader))


def _own_copy(node: yaml.Node) -> yaml.Node:
    """Copy a node so that nothing in it is shared, as it is where an alias stands."""
    if isinstance(node, yaml.MappingNode):
        entries = [(_own_copy(key), _own_copy(value)) for key, value in node.value]
        return yaml.MappingNode(node.tag, entries, flow_style=node.flow_style)
    if isinstance(node, yaml.SequenceNode):
        return yaml.SequenceNode(node.tag, [_own_copy(item) for item in node.value], flow_style=node.flow_style)
    return yaml.ScalarNode(node.tag, node.value, style=node.style)


def _asserts(node: yaml.Node, path: tuple[str, ...] = (), verdicts: tuple[str, ...] = ()) -> Iterator[_Assert]:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _asserts(item, (*path, str(index)), verdicts)
    if not isinstance(node, yaml.MappingNode):
        return
    own = _value(node, "verdicts")
    if own is not None:
        verdicts = tuple(item.value if isinstance(item.value, str) else item.value[0][0].value for item in own.value)
    for key, value in node.value:
        here = (*path, key.value)
        if key.value == "assert":
            yield _Assert(here, value, verdicts)
        else:
            yield from _asserts(value, here, verdicts)


def _falsify(asserted: _Assert) -> Iterator[str]:
    """Make each part of an assert false, and yield how the complaint about it begins."""
    outcome = _value(asserted.node, "outcome")
    is_heard = not (
        # What was stopped stays aborted, and says why rather than what was asserted.
        (outcome is not None and outcome.value == "aborted")
        # A model that is told what it owes goes on until its script or its patience ends.
        or _value(asserted.node, "nudge") is not None
        or (asserted.verdicts and _value(asserted.node, "files") is not None)
    )
    for key, value in asserted.node.value:
        match key.value:
            case "stdout":
                value.value += " and more"
            case "code":
                value.value = str((int(value.value) + 1) % 256)
            case "verdict":
                value.value = next(name for name in asserted.verdicts if name not in (value.value, "failure"))
            case "files":
                value.value.append(_text(value.value[0].value.partition("/")[0] + "/no such file"))
            case "tool_calls":
                value.value.append(_call(_value(value.value[-1], "name").value))
            case "execution" if value.value:
                value.value.append(_own_copy(value.value[-1]))
            case "execution":
                value.value.append(_text("nobody"))
            case "outcome":
                value.value = OTHER_OUTCOME[value.value]
            case _:
                continue
        if is_heard:
            yield f"assert.{key.value}:"


def _text(value: str) -> yaml.ScalarNode:
    return yaml.ScalarNode("tag:yaml.org,2002:str", value)


def _call(tool: str) -> yaml.MappingNode:
    """Name a call that nobody makes."""
    args = yaml.MappingNode("tag:yaml.org,2002:map", [(_text("no_such_argument"), _text("x"))])
    return yaml.MappingNode("tag:yaml.org,2002:map", [(_text("name"), _text(tool)), (_text("args"), args)])


def _value(node: yaml.Node, name: str) -> yaml.Node | None:
    return next((value for key, value in node.value if key.value == name), None)


def _items(node: yaml.Node) -> list[yaml.Node]:
    return node.value

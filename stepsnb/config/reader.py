"""YAML text to a `Tree`: composed with the C loader, strict where YAML is loose, nothing resolved by YAML 1.1 rules."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import yaml

from ..settings import YAML_ALIASED_VALUES, YAML_DEPTH
from .problems import Problems
from .tree import NULLS, Entries, Items, Mark, Path, Scalar, Tree
from .var_scopes import VarScopes
from .variables import Variables

_UNREADABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""What YAML forbids in a stream; a byte order mark may only open it."""

_OLD_BREAKS = "\x85\u2028\u2029"
"""Line breaks of YAML 1.1, which libyaml reads; in YAML 1.2 they are characters like any other."""

_STR = "tag:yaml.org,2002:str"
_TOP: Path = ()


class _Loader(yaml.CSafeLoader):
    """The C composer without implicit types: every plain scalar keeps its text, every other tag was written out."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # PyYAML's own attribute


class ReadText(NamedTuple):
    """A text as a tree, and the variables as they were replaced in it."""

    root: Tree
    variables: Variables


def read_tree(text: str, problems: Problems, variables: Mapping[str, object]) -> ReadText:
    """Read one document with its variables replaced; problems of single entries are collected in `problems`.

    Raises: ConfigError when a problem hides the rest of the text.
    """
    text = text.removeprefix("\ufeff")
    hidden = _stand_ins(text)
    node = _compose(text.translate(hidden), problems)
    if node is None:
        problems.add(Mark(1, 1), _TOP, "there is nothing in it; a pipeline has at least `jobs:`")
        raise problems.error()
    shown = {ord(stand_in): character for character, stand_in in hidden.items()}
    scopes = VarScopes.of(node) if "load_var" in text else VarScopes({})
    replaced = Variables(variables, problems, scopes)
    return ReadText(_Builder(problems, replaced, shown).build(node, _TOP), replaced)


def _stand_ins(text: str) -> dict[int, str]:
    """Map each old line break in `text` to a private-use character that is not in it."""
    breaks = [ord(character) for character in _OLD_BREAKS if character in text]
    unused = (chr(code) for code in range(0xF0000, 0xFFFFE) if chr(code) not in text)
    return dict(zip(breaks, unused, strict=False))


def _compose(text: str, problems: Problems) -> yaml.Node | None:
    if found := _UNREADABLE.search(text):
        before = text[: found.start()]
        mark = Mark(before.count("\n") + 1, found.start() - before.rfind("\n"))
        code = f"U+{ord(found[0]):04X}"
        problems.add(mark, _TOP, f"the character {code} cannot stand in YAML; remove it, or escape it in double quotes")
        raise problems.error()
    loader = _Loader(text)
    try:
        node: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as exc:
        problems.add(*_syntax_problem(exc, text))
        raise problems.error() from exc
    finally:
        loader.dispose()
    return node


def _syntax_problem(exc: Any, text: str) -> tuple[Mark, Path, str]:
    mark = _mark(exc.problem_mark)
    at = text[exc.problem_mark.index : exc.problem_mark.index + 1]
    what = str(exc.problem)
    if exc.context == "expected a single document in the stream":
        return mark, _TOP, "a second document begins here; one file holds one pipeline, so split the file"
    if what == "found undefined alias":
        instead = "define it with `&name`, or put text that begins with `*` in quotes"
        return mark, _TOP, f"this alias has no anchor before it; {instead}"
    if what == "found character that cannot start any token" and at == "\t":
        return mark, _TOP, "a tab cannot indent YAML; use spaces"
    if what == "found character that cannot start any token":
        return mark, _TOP, f"a value cannot begin with `{at}`; put it in quotes"
    if what == "mapping values are not allowed in this context":
        return mark, _TOP, "a `:` cannot stand here; put text that holds `: ` in quotes, and check the indentation"
    context = f" {exc.context}, begun on line {exc.context_mark.line + 1}" if exc.context and exc.context_mark else ""
    return mark, _TOP, f"not valid YAML: {what}{context}; check quotes, brackets and indentation from there on"


def _mark(mark: yaml.Mark) -> Mark:
    return Mark(mark.line + 1, mark.column + 1)


class _Builder:
    """Turns composed nodes into a tree, following aliases as far as is sane."""

    def __init__(self, problems: Problems, variables: Variables, shown: Mapping[int, int]) -> None:
        self._problems = problems
        self._shown = shown
        self._variables = variables
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._aliased = 0

    def build(self, node: yaml.Node, path: Path, *, is_aliased: bool = False) -> Tree:
        """Build the tree below `node`; `is_aliased` says that it was reached through an alias before."""
        mark = _mark(node.start_mark)
        if isinstance(node, yaml.ScalarNode):
            self._count(mark, path, is_aliased=is_aliased)
            return self._scalar(node, mark, path)
        key = id(node)
        if key in self._open:
            self._stop(mark, path, "this value contains itself through an alias; write it out")
        if len(path) > YAML_DEPTH:
            self._stop(mark, path, f"nested deeper than {YAML_DEPTH} levels; flatten it")
        is_aliased = is_aliased or key in self._seen
        self._count(mark, path, is_aliased=is_aliased)
        self._seen.add(key)
        self._open.add(key)
        if node.tag not in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
            self._refuse_tag(node, mark, path)
        tree = (
            self._entries(node, mark, path, is_aliased=is_aliased)
            if isinstance(node, yaml.MappingNode)
            else self._items(node, mark, path, is_aliased=is_aliased)
        )
        self._open.remove(key)
        return tree

    def _scalar(self, node: yaml.ScalarNode, mark: Mark, path: Path) -> Tree:
        if node.tag != _STR:
            self._refuse_tag(node, mark, path)
        is_plain = not node.style
        text = node.value.translate(self._shown) if self._shown else node.value
        scalar = Scalar(text, mark, is_plain, is_null=is_plain and node.value in NULLS)
        return self._variables.expand(scalar, path)

    def _items(self, node: yaml.Node, mark: Mark, path: Path, *, is_aliased: bool) -> Items:
        items = Items(mark, path)
        for index, item in enumerate(node.value):
            items.append(self.build(item, (*path, index), is_aliased=is_aliased))
        return items

    def _entries(self, node: yaml.Node, mark: Mark, path: Path, *, is_aliased: bool) -> Entries:
        entries = Entries(mark, path)
        for key_node, value_node in node.value:
            key_mark = _mark(key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                self._problems.add(key_mark, path, "a key must be text; put text that begins with `{` or `[` in quotes")
                continue
            if key_node.value == "<<" and not key_node.style:
                text = "`<<:` is YAML 1.1, this is YAML 1.2; write the keys out, or alias a whole value"
                self._problems.add(key_mark, path, text)
                continue
            key = self._variables.expand_key(key_node.value.translate(self._shown), key_mark, path)
            if key in entries:
                lines = f"lines {entries.key_marks[key].line} and {key_mark.line}"
                self._problems.add(key_mark, path, f"duplicate key `{key}`, on {lines}; keep one of them")
                continue
            entries.put(key, self.build(value_node, (*path, key), is_aliased=is_aliased), key_mark)
        return entries

    def _count(self, mark: Mark, path: Path, *, is_aliased: bool) -> None:
        self._aliased += is_aliased
        if self._aliased > YAML_ALIASED_VALUES:
            self._stop(mark, path, f"aliases add more than {YAML_ALIASED_VALUES:,} values; write out what is needed")

    def _refuse_tag(self, node: yaml.Node, mark: Mark, path: Path) -> None:
        tag = node.tag.replace("tag:yaml.org,2002:", "!!")
        text = f"the tag `{tag}` means nothing here; remove it, since each key decides its own type"
        self._problems.add_lost(mark, path, text)

    def _stop(self, mark: Mark, path: Path, text: str) -> NoReturn:
        self._problems.add(mark, path, text)
        raise self._problems.error()

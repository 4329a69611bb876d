"""Loads a script from YAML, with every problem of the file in one error.

version: 1
replies:
- text: Let me look.
  calls:
  - {name: read_file, arguments: {path: notes.md}}
- expect: tides
  text: It is about tides.
conversations:
- when: critic
  replies: [{text: Looks good.}]
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import yaml

from ...errors import ConfigError
from ...suggest import unknown_name
from ...usage import Usage
from .script import Conversation, Expectation, Script, ScriptedCall, ScriptedError, ScriptedReply

VERSION = "1"

_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = re.compile(r"|~|null|Null|NULL")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

T = TypeVar("T")
Read = Callable[[yaml.Node], Any]


def load_script(text: str, file: str) -> Script:
    """Load a script from its YAML text; `file` is the name it has in messages.

    Raises: `ConfigError` with one `file:line:col: …` line for each problem.
    """
    return _Loader(file).load(text)


def _value(node: yaml.Node) -> Any:
    """Give a node's value by YAML 1.2's core schema, in which `yes` and `010` mean what they look like."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _value(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    text = str(node.value)
    if not isinstance(node, yaml.ScalarNode) or node.style:  # plain is None, or empty with the C loader
        return text
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text[0] in "tT"
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


class _Loader:
    """Reads composed nodes; a problem is noted with its place and reading goes on."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[str] = []

    def load(self, text: str) -> Script:
        try:
            root = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as exc:
            mark = exc.problem_mark
            place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
            raise ConfigError(f"{self._file}{place}: no YAML: {exc.problem}") from exc
        except yaml.YAMLError as exc:
            raise ConfigError(f"{self._file}: no YAML: {exc}") from exc
        if root is None:
            raise ConfigError(f"{self._file}:1:1: is empty; a script has `version: 1` and `replies:`")
        script = self._script(root)
        if self._problems:
            raise ConfigError("\n".join(self._problems))
        return script

    def _note(self, node: yaml.Node, problem: str) -> None:
        mark = node.start_mark
        self._problems.append(f"{self._file}:{mark.line + 1}:{mark.column + 1}: {problem}")

    def _fields(self, node: yaml.Node, what: str, known: dict[str, Read]) -> dict[str, Any]:
        """Read a mapping with known keys."""
        fields: dict[str, Any] = {}
        if not isinstance(node, yaml.MappingNode):
            self._note(node, f"{what} is not a mapping; it has the keys {', '.join(sorted(known))}")
            return fields
        for key, value in node.value:
            name = str(key.value)
            if name not in known:
                self._note(key, f"{what}: {unknown_name('key', name, known)}")
            elif name in fields:
                self._note(key, f"{what}: `{name}` is given twice; keep one")
            else:
                fields[name] = known[name](value)
        return fields

    def _list(self, what: str, read: Callable[[yaml.Node], T]) -> Callable[[yaml.Node], list[T]]:
        def read_list(node: yaml.Node) -> list[T]:
            if isinstance(node, yaml.SequenceNode):
                return [read(item) for item in node.value]
            self._note(node, f"{what} is not a list; begin each entry with `- `")
            return []

        return read_list

    def _text(self, what: str) -> Callable[[yaml.Node], str]:
        def read_text(node: yaml.Node) -> str:
            if not isinstance(node, yaml.ScalarNode):
                self._note(node, f"{what} is not a text")
                return ""
            return str(node.value)

        return read_text

    def _number(self, what: str, kind: type[int] | type[float], least: float, most: float) -> Read:
        def read_number(node: yaml.Node) -> Any:
            value = _value(node)
            is_kind = isinstance(value, int | kind) and not isinstance(value, bool)
            if not is_kind or not least <= value <= most:
                wanted = "a whole number" if kind is int else "a number"
                self._note(node, f"{what} is not {wanted} from {least:g} to {most:g}")
                return least
            return kind(value)

        return read_number

    def _flag(self, what: str) -> Callable[[yaml.Node], bool]:
        def read_flag(node: yaml.Node) -> bool:
            value = _value(node)
            if not isinstance(value, bool):
                self._note(node, f"{what} is neither true nor false")
            return value is not False

        return read_flag

    def _script(self, root: yaml.Node) -> Script:
        fields = self._fields(
            root,
            "a script",
            {
                "version": self._version,
                "replies": self._list("`replies`", self._reply),
                "conversations": self._list("`conversations`", self._conversation),
            },
        )
        if "version" not in fields and isinstance(root, yaml.MappingNode):
            self._note(root, f"has no `version:`; this stepsnb reads `version: {VERSION}`")
        conversations = list(fields.get("conversations", ()))
        if fields.get("replies"):
            conversations.append(Conversation(replies=fields["replies"]))
        if not conversations and not self._problems:
            self._note(root, "has no `replies:` and no `conversations:`; a script needs at least one reply")
        return Script(name=self._file, conversations=conversations)

    def _version(self, node: yaml.Node) -> str:
        if node.value != VERSION:
            shown = node.value if isinstance(node, yaml.ScalarNode) else "…"
            self._note(node, f"`version: {shown}` is not known; this stepsnb reads `version: {VERSION}`")
        return VERSION

    def _conversation(self, node: yaml.Node) -> Conversation:
        fields = self._fields(
            node,
            "a conversation",
            {
                "name": self._text("`name`"),
                "when": self._text("`when`"),
                "replies": self._list("`replies`", self._reply),
            },
        )
        if not fields.get("replies") and isinstance(node, yaml.MappingNode):
            self._note(node, "a conversation has no `replies:`")
        fields.setdefault("name", fields.get("when") or "replies")
        return Conversation(**fields)

    def _reply(self, node: yaml.Node) -> ScriptedReply:
        fields = self._fields(
            node,
            "a reply",
            {
                "text": self._text("`text`"),
                "thinking": self._text("`thinking`"),
                "calls": self._list("`calls`", self._call),
                "error": self._error,
                "usage": self._usage,
                "finish_reason": self._text("`finish_reason`"),
                "delay_s": self._number("`delay_s`", float, 0, 3600),
                "expect": self._expect,
                "check": self._flag("`check`"),
            },
        )
        said = [key for key in ("text", "thinking", "calls") if key in fields]
        if "error" in fields and said:
            self._note(
                node, f"a reply has `error:` beside `{said[0]}:`; an error comes in place of a reply, so split it"
            )
        elif not said and "error" not in fields and isinstance(node, yaml.MappingNode):
            self._note(node, "a reply says nothing; give it `text:`, `calls:` or `error:`")
        fields["calls"] = tuple(fields.get("calls", ()))
        return ScriptedReply(**fields)

    def _call(self, node: yaml.Node) -> ScriptedCall:
        fields = self._fields(node, "a call", {"name": self._text("`name`"), "arguments": self._arguments})
        if not fields.get("name") and isinstance(node, yaml.MappingNode):
            self._note(node, "a call has no `name:`; it is `{name: TOOL, arguments: {…}}`")
        return ScriptedCall(**{"name": "", **fields})

    def _arguments(self, node: yaml.Node) -> str:
        # A text goes out as it stands, so that a script can hold the broken JSON that models send.
        if isinstance(node, yaml.MappingNode):
            return msgspec.json.encode(_value(node)).decode()
        return self._text("`arguments`")(node)

    def _error(self, node: yaml.Node) -> ScriptedError:
        fields = self._fields(
            node,
            "an error",
            {
                "status": self._number("`status`", int, 400, 599),
                "message": self._text("`message`"),
                "retry_after_s": self._number("`retry_after_s`", float, 0, 86_400),
                "times": self._number("`times`", int, 1, 1_000),
            },
        )
        if "status" not in fields and isinstance(node, yaml.MappingNode):
            self._note(node, "an error has no `status:`; give the HTTP status, such as 429")
        return ScriptedError(**{"status": 500, **fields})

    def _usage(self, node: yaml.Node) -> Usage:
        kinds = ("input", "cached_input", "cache_write", "output", "reasoning")
        known = {kind: self._number(f"`{kind}`", int, 0, 1e12) for kind in kinds}
        return Usage(**{f"{kind}_tokens": count for kind, count in self._fields(node, "`usage`", known).items()})

    def _expect(self, node: yaml.Node) -> Expectation:
        if not isinstance(node, yaml.MappingNode):
            return Expectation(message=self._texts(node))
        return Expectation(**self._fields(node, "`expect`", {"message": self._texts, "tools": self._texts}))

    def _texts(self, node: yaml.Node) -> tuple[str, ...]:
        if isinstance(node, yaml.SequenceNode):
            return tuple(self._text("an expected text")(item) for item in node.value)
        return (self._text("an expected text")(node),)

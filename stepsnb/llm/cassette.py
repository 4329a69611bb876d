"""Requests to models with what came back, kept in a file, and given back from there without a network or a key."""

import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from ..errors import InputError
from ..suggest import unknown_name

VERSION: Final = 1
_NOT_COMPARED: Final = frozenset({"model", "stream", "stream_options", "session_id", "user"})
"""Of a request: how it is sent and who sends it, not what is asked. The model is that of the pipeline."""
_SHOWN: Final = 160
_ID_CHARACTERS: Final = 12


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """How a connection ended before the response did: the name of httpx's exception, and its words."""

    kind: str
    text: str = ""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its response.

    `model` is as the pipeline names it; `messages` and `tools` are names of parts, `rest` is all else that was asked.
    `chunks` are the pieces of the body as they came.
    """

    model: str
    messages: list[str]
    tools: str | None = None
    rest: dict[str, Any] = {}
    status: int | None = None
    headers: dict[str, str] = {}
    chunks: list[str] = []
    failure: Failure | None = None

    @property
    def key(self) -> str:
        """What a request has to be, to be answered with this."""
        return _digest([self.model, self.messages, self.tools, self.rest])


class _File(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A cassette as it is on the disk; `parts` are messages and lists of tools by name, each there once."""

    version: int
    windows: dict[str, int] = {}
    parts: dict[str, Any] = {}
    exchanges: list[Exchange] = []


class Cassette:
    """A file of exchanges, recorded into or replayed from.

    `hide` takes secrets out of a text; requests are compared without them.
    """

    def __init__(self, path: Path, *, is_replay: bool) -> None:
        """Read the file. Raises: InputError for one that is damaged, or that is to be replayed and not there."""
        self.path = path
        self.is_replay = is_replay
        self.hide: Callable[[str], str] = lambda text: text
        self._file = _read(path, is_needed=is_replay)
        self._given: Counter[str] = Counter()
        self._recorded: list[Exchange] = []
        self._parts: dict[str, Any] = {}
        self._windows: dict[str, int] = {}

    def window(self, model: str) -> int | None:
        """Return the context window that was known of a model."""
        return self._file.windows.get(model)

    def note_window(self, model: str, tokens: int | None) -> None:
        """Keep the context window of a model: when a conversation is summarised depends on it."""
        if tokens is not None:
            self._windows[model] = tokens

    def answer(self, model: str, body: Mapping[str, Any]) -> Exchange | str:
        """Return what the request was answered with, the next time if it was made more than once.

        A text says in which way nothing recorded is the same.
        """
        parts: dict[str, Any] = {}
        asked = self._exchange(model, body, parts)
        same = [each for each in self._file.exchanges if each.key == asked.key]
        number = self._given[asked.key]
        if number < len(same):
            self._given[asked.key] += 1
            return same[number]
        if same:
            times = f"{number} time" + ("s" if number > 1 else "")
            return f"cassette `{self.path}`: this request was made {times} when it was recorded, and now once more"
        return f"cassette `{self.path}` has no such request; {self._difference(asked, parts)}; record it again"

    def add(
        self,
        model: str,
        body: Mapping[str, Any],
        *,
        status: int | None,
        headers: Mapping[str, str],
        chunks: list[bytes],
        failure: Failure | None = None,
    ) -> None:
        """Record an exchange; `save` brings it to the disk."""
        asked = self._exchange(model, body, self._parts)
        texts = [chunk.decode("utf-8", "surrogateescape") for chunk in chunks]
        whole = "".join(texts)
        # A secret may lie across two chunks.
        texts = texts if (hidden := self.hide(whole)) == whole else [hidden]
        self._recorded.append(
            msgspec.structs.replace(
                asked,
                status=status,
                headers={name: self.hide(value) for name, value in headers.items()},
                chunks=[_escape(text) for text in texts],
                failure=failure,
            )
        )

    def save(self) -> None:
        """Write what was recorded: each request takes the place of the same one of earlier recordings.

        Raises: InputError when the file cannot be written.
        """
        if not self._recorded:
            return
        known = _read(self.path, is_needed=False)  # another run may have recorded into it meanwhile
        new = {each.key for each in self._recorded}
        exchanges = [each for each in known.exchanges if each.key not in new] + self._recorded
        names = {name for each in exchanges for name in (*each.messages, each.tools) if name is not None}
        parts = {name: part for name, part in {**known.parts, **self._parts}.items() if name in names}
        windows = {**known.windows, **self._windows}
        _write(self.path, _File(version=VERSION, windows=windows, parts=parts, exchanges=exchanges))

    def _exchange(self, model: str, body: Mapping[str, Any], parts: dict[str, Any]) -> Exchange:
        """Describe a request, without secrets; its parts are put into `parts`."""
        clean = _hidden(dict(body), self.hide)
        names = [_keep(message, parts) for message in clean.pop("messages", [])]
        tools = clean.pop("tools", None)
        rest = {name: value for name, value in clean.items() if name not in _NOT_COMPARED}
        return Exchange(model=model, messages=names, tools=None if tools is None else _keep(tools, parts), rest=rest)

    def _difference(self, asked: Exchange, parts: Mapping[str, Any]) -> str:
        """Say in which way the nearest recorded request is another one."""
        models = {each.model for each in self._file.exchanges}
        if asked.model not in models:
            return unknown_name("model", asked.model, models)

        def common(each: Exchange) -> int:
            pairs = zip(each.messages, asked.messages, strict=False)
            return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(each.messages), len(asked.messages)))

        own = [each for each in self._file.exchanges if each.model == asked.model]
        nearest = max(own, key=lambda each: (common(each), -abs(len(each.messages) - len(asked.messages))))
        place = common(nearest)
        if place < len(asked.messages) and place < len(nearest.messages):
            was, now = self._file.parts.get(nearest.messages[place]), parts[asked.messages[place]]
            return f"message {place + 1} is another one: recorded {_shown(was, now)}, now {_shown(now, was)}"
        if len(asked.messages) != len(nearest.messages):
            return f"it has {len(asked.messages)} messages, the nearest recorded one {len(nearest.messages)}"
        if asked.tools != nearest.tools:
            was, now = (
                _tool_names(p) for p in (self._file.parts.get(nearest.tools or ""), parts.get(asked.tools or ""))
            )
            told = f"recorded {was}, now {now}"
            return f"the tools are others: {told}" if was != now else f"the tools are described in another way: {now}"
        names = sorted({*asked.rest, *nearest.rest})
        changed = next(name for name in names if asked.rest.get(name) != nearest.rest.get(name))
        return f"`{changed}` is another: recorded {nearest.rest.get(changed)!r}, now {asked.rest.get(changed)!r}"


def chunks_of(exchange: Exchange) -> list[bytes]:
    """Return the pieces of a response's body as they came."""
    return [_unescape(text).encode("utf-8", "surrogateescape") for text in exchange.chunks]


def _read(path: Path, *, is_needed: bool) -> _File:
    import yaml

    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        if is_needed:
            raise InputError(f"cassette `{path}` is not there; record it first, with `--record {path}`") from None
        return _File(version=VERSION)
    except (OSError, UnicodeDecodeError) as exc:
        raise InputError(f"cassette `{path}` cannot be read: {exc}") from exc
    try:
        tree = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
        found = tree.get("version") if isinstance(tree, dict) else None
        if found != VERSION:
            raise InputError(
                f"cassette `{path}` has `version: {found}`, and this stepsnb reads {VERSION}; record it again"
            )
        file = msgspec.convert(tree, _File)
    except (yaml.YAMLError, msgspec.ValidationError) as exc:
        reason = " ".join(str(exc).split())
        raise InputError(f"cassette `{path}` is damaged: {reason}; record it again") from exc
    lost = [name for each in file.exchanges for name in each.messages if name not in file.parts]
    if lost:
        raise InputError(
            f"cassette `{path}` is damaged: message `{lost[0]}` is not among its `parts:`; record it again"
        )
    return file


def _write(path: Path, file: _File) -> None:
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Writes texts of several lines as such, so that a change shows in a diff."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value.strip("\n") else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    written = yaml.dump(msgspec.to_builtins(file), Dumper=Dumper, allow_unicode=True, sort_keys=False, width=110)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as out:
                out.write(written)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as exc:
        raise InputError(f"cassette `{path}` cannot be written: {(exc.strerror or str(exc)).lower()}") from exc


def _hidden(value: Any, hide: Callable[[str], str]) -> Any:
    match value:
        case str():
            return hide(value)
        case dict():
            return {name: _hidden(each, hide) for name, each in value.items()}
        case list():
            return [_hidden(each, hide) for each in value]
    return value


def _keep(part: Any, parts: dict[str, Any]) -> str:
    name = _digest(part)[:_ID_CHARACTERS]
    parts[name] = part
    return name


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _shown(message: Any, other: Any) -> str:
    """Show a message from where it differs from another one."""
    text, against = _text(message), _text(other)
    start = next((n for n, (a, b) in enumerate(zip(text, against, strict=False)) if a != b), 0)
    cut = text[max(start - 20, 0) :][:_SHOWN]
    return f"`{'…' if start > 20 else ''}{' '.join(cut.split())}`"


def _text(message: Any) -> str:
    if not isinstance(message, dict):
        return "nothing"
    content = message.get("content")
    said = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    calls = message.get("tool_calls")
    return f"{message.get('role')}: {said}" + (f" {json.dumps(calls, ensure_ascii=False)}" if calls else "")


def _tool_names(tools: Any) -> str:
    names = [str(tool.get("function", {}).get("name")) for tool in tools or () if isinstance(tool, dict)]
    return ", ".join(names) or "none"


def _escape(text: str) -> str:
    """Write bytes that are no UTF-8 as text that a YAML file can hold; `_unescape` is the way back."""
    if not any("\udc80" <= character <= "\udcff" for character in text) and "\\x" not in text:
        return text
    escaped = text.replace("\\", "\\\\")
    return "\\x" + "".join(f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in escaped)


def _unescape(text: str) -> str:
    if not text.startswith("\\x"):
        return text
    found, rest = [], text[2:]
    while rest:
        if rest.startswith("\\\\"):
            found.append("\\")
            rest = rest[2:]
        elif rest.startswith("\\x"):
            found.append(chr(0xDC00 + int(rest[2:4], 16)))
            rest = rest[4:]
        else:
            found.append(rest[0])
            rest = rest[1:]
    return "".join(found)

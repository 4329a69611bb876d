"""Resource types made of tools of an MCP server, which check, fetch and publish in place of programs."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..config import ResourceTools, ServerToolCall
from ..errors import ResourceError
from ..settings import RESOURCE_LINKS, RESOURCE_OUTPUT_BYTES
from ..workspace import finish_in_thread
from .arguments import fill_arguments
from .base import ResourceType
from .versions import Version, parse_published, parse_versions

_TEXT, _STRUCTURE = "content.txt", "content.json"


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """Content with a name: the last part of its address, or one made of what it is."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gave back: texts, its structured content, content with names, and addresses of more of it."""

    texts: tuple[str, ...] = ()
    structured: Any = None
    files: tuple[AnswerFile, ...] = ()
    links: tuple[str, ...] = ()


class ToolServers(Protocol):
    """Reaches the tools of MCP servers.

    Both raise ResourceError, whose `has_failed` says that the tool itself said no, or took too long.
    """

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Callable[[Mapping[str, Any]], dict[str, Any]],
        *,
        timeout_s: float | None = None,
    ) -> Answer:
        """Call a tool with what `arguments` makes of the schema of what it takes."""
        ...

    async def read(self, server: str, address: str) -> tuple[AnswerFile, ...]:
        """Return what the server has at an address that one of its tools named."""
        ...


class ServerToolType(ResourceType):
    """A type whose verbs are tools of one server, with templates for arguments as programs have them.

    `check` answers with the versions there are from `.version` on, oldest first. What `in` answers becomes files:
    its texts `content.txt`, its structured content `content.json`, embedded resources, pictures and sounds, and what
    it links to, files of their own. `out` may answer with the version it made.

    Args:
        identity: Of the server, so that content of another one is not taken for the same.
    """

    def __init__(
        self,
        name: str,
        tools: ResourceTools,
        servers: ToolServers,
        *,
        variables: Mapping[str, Any] | None = None,
        identity: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self._tools = tools
        self._servers = servers
        self._variables = dict(variables or {})
        self._identity = dict(identity or {})

    def fetch_identity(self) -> Mapping[str, Any]:
        """Return the tool `in`, what it is given, and its server; see `ResourceType.fetch_identity`."""
        call = self._tools.in_
        in_ = {} if call is None else call.model_dump(exclude={"timeout_s"})
        return {"mcp": self._identity, "in": in_, "vars": self._variables}

    async def check(self, source: Mapping[str, Any], version: Version | None) -> list[Version]:
        """Call `check`; see `ResourceType.check`."""
        answer = await self._call("check", self._tools.check, source=source, version=version or {}, params={})
        return parse_versions(self._bounded("check", _listed(answer)), self._where("check"), said="answered")

    async def fetch(
        self, source: Mapping[str, Any], version: Version | None, params: Mapping[str, Any], folder: Path
    ) -> None:
        """Call `in`, and write what it answers into `folder`; see `ResourceType.fetch`."""
        answer = await self._call("in", self._tools.in_, source=source, version=version or {}, params=params)
        if len(answer.links) > RESOURCE_LINKS:
            raise ResourceError(
                f"{self._where('in')}: answered {len(answer.links):,} links, of which at most {RESOURCE_LINKS:,} are "
                "followed; let it answer the content itself"
            )
        taken: set[str] = set()
        await finish_in_thread(_write, _files(answer), folder, taken)
        for address in answer.links:
            await finish_in_thread(_write, await self._read(address), folder, taken)

    async def publish(self, source: Mapping[str, Any], params: Mapping[str, Any], folder: Path) -> Version | None:
        """Call `out`; see `ResourceType.publish`. Words that are no JSON are no version."""
        answer = await self._call("out", self._tools.out, source=source, version={}, params=params)
        return parse_published(self._bounded("out", _published(answer)), self._where("out"), said="answered")

    async def _call(self, verb: str, call: ServerToolCall | None, **values: Mapping[str, Any]) -> Answer:
        if call is None:
            raise ResourceError(f"resource type `{self.name}` has no `{verb}:`; give it one, or leave this step out")

        def arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
            return fill_arguments(call.args, {**values, "vars": self._variables}, schema)

        try:
            return await self._servers.call(self._tools.server, call.tool, arguments, timeout_s=call.timeout_s)
        except ResourceError as exc:
            raise ResourceError(f"{self._where(verb)}: {exc}", has_failed=exc.has_failed) from exc

    async def _read(self, address: str) -> tuple[AnswerFile, ...]:
        try:
            return await self._servers.read(self._tools.server, address)
        except ResourceError as exc:
            raise ResourceError(f"{self._where('in')}: {exc}", has_failed=exc.has_failed) from exc

    def _bounded(self, verb: str, said: bytes) -> bytes:
        if len(said) > RESOURCE_OUTPUT_BYTES:
            raise ResourceError(
                f"{self._where(verb)}: answered {len(said):,} bytes; at most {RESOURCE_OUTPUT_BYTES:,} are read, so "
                "let it answer only versions, and not more than are new"
            )
        return said

    def _where(self, verb: str) -> str:
        return f"resource type `{self.name}`, `{verb}:`"


def _listed(answer: Answer) -> bytes:
    """Return the versions of an answer as the JSON of an array.

    Python's SDK writes a list either as structured content or as one text an item, so that an empty one is nothing.
    """
    structured = _unwrapped(answer)
    if isinstance(structured, list):
        return _json(structured)
    if structured is None and not answer.texts and not answer.files:
        return b"[]"
    parts = [_parsed(text) for text in answer.texts]
    if parts and all(isinstance(part, dict) for part in parts):
        return _json(parts)
    return _json(structured) if structured is not None and not answer.texts else _text(answer)


def _published(answer: Answer) -> bytes:
    """Return the version of an answer as JSON; nothing when it holds only words."""
    structured = _unwrapped(answer)
    if isinstance(structured, dict | list):
        return _json(structured)
    text = _text(answer).strip()
    return text if text.startswith((b"{", b"[")) else b""


def _unwrapped(answer: Answer) -> Any:
    """Return the structured content without the `{"result": …}` that SDKs put around what is no object."""
    match answer.structured:
        case {"result": str(value)} if len(answer.structured) == 1:
            return value if value in answer.texts else answer.structured
        case {"result": value} if len(answer.structured) == 1:
            return value
    return answer.structured


def _files(answer: Answer) -> list[AnswerFile]:
    files = [AnswerFile(_TEXT, _text(answer))] if answer.texts else []
    if answer.structured is not None:
        text = json.dumps(answer.structured, ensure_ascii=False, indent=2)
        files.append(AnswerFile(_STRUCTURE, _encode(f"{text}\n")))
    return [*files, *answer.files]


def _write(files: Iterable[AnswerFile], folder: Path, taken: set[str]) -> None:
    """Write each file; of several with one name, in capitals or not, the later ones are numbered."""
    for file in files:
        name, count = file.name, 1
        while name.casefold() in taken:
            count += 1
            name = f"{Path(file.name).stem}-{count}{Path(file.name).suffix}"
        taken.add(name.casefold())
        (folder / name).write_bytes(file.content)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text(answer: Answer) -> bytes:
    return _encode("\n".join(answer.texts))


def _json(value: Any) -> bytes:
    return _encode(json.dumps(value, ensure_ascii=False))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")

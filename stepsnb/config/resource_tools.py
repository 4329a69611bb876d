"""A resource type made of tools: which ones of an MCP server find, fetch and publish its versions."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..suggest import did_you_mean
from ..templates import TemplateProblem
from .concept import Complaint, Concept
from .free import FreeMapping
from .scalars import DurationS, Name, Text
from .template_uses import template_uses
from .tree import Path, Scalar
from .wording import dotted

_VALUES = ("params", "source", "vars", "version")


def template_complaints(text: str, at: Path, *about: str) -> Iterator[Complaint]:
    """Refuse a text that cannot be rendered with what a resource type knows."""
    name = dotted(at)
    try:
        uses = [use[0] for use in template_uses(text)]
    except TemplateProblem as exc:
        yield Complaint(at, f"`{name}:` cannot be rendered: {exc}", about)
        return
    for used in dict.fromkeys(uses):
        if used not in _VALUES:
            problem = f"`{name}:` refers to `.{used}`{did_you_mean(used, _VALUES)}; there is: {', '.join(_VALUES)}"
            yield Complaint(at, problem, about)


class ServerToolCall(Concept):
    """One tool and its arguments; `TOOL` alone is the short form, without any."""

    tool: Text = Field(description="By the name the server has for it.")
    args: FreeMapping = Field(
        default={}, description="Its arguments; texts are templates over `.source`, `.version` and `.params`."
    )
    timeout_s: DurationS | None = Field(
        default=None, validation_alias="timeout", description='How long one call runs; "0" means no limit.'
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse arguments that are no templates."""
        for at, text in _texts(self.args, ("args",)):
            yield from template_complaints(text, at, "args")


def _texts(value: Any, at: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str():
            yield at, value
        case dict():
            for name, each in value.items():
                yield from _texts(each, (*at, name))
        case list():
            for index, each in enumerate(value):
                yield from _texts(each, (*at, index))


def _read_call(raw: Any, info: ValidationInfo) -> Any:
    if isinstance(raw, Scalar):
        return ServerToolCall.model_validate({"tool": raw}, context=info.context)
    return raw


class _OrName:
    """Adds the bare name of a tool to the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core)]}


_Call = Annotated[ServerToolCall, BeforeValidator(_read_call), _OrName()]


class ResourceTools(Concept):
    """The tools of one server that stand for the programs of a type."""

    server: Name = Field(description="An entry of `mcp_servers:`.")
    check: _Call | None = Field(default=None, description="Answers with a JSON array of versions, the oldest first.")
    in_: _Call | None = Field(
        default=None, validation_alias="in", description="Answers with what the artifact is to hold."
    )
    out: _Call | None = Field(default=None, description="Publishes, and may answer with one version.")

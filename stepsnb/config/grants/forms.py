"""Which form of grant an entry of `tools:` is, on an agent and in a step."""

from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..conversions import bad_value, read_name
from ..tree import Entries, Items, Scalar
from ..wording import wrong_shape
from .builtin import BUILTIN_TOOLS, BuiltinGrant
from .custom import CustomGrant
from .mcp import McpGrant
from .python import PythonGrant
from .sub_agent import AgentGrant

AnyGrant = BuiltinGrant | PythonGrant | CustomGrant | AgentGrant | McpGrant

_FORMS: dict[str, type[AnyGrant]] = {
    "builtin": BuiltinGrant,
    "python": PythonGrant,
    "agent": AgentGrant,
    "mcp": McpGrant,
    "run": CustomGrant,
}
"""Each form by the key that only it has."""


def _form_of(raw: Entries) -> str | None:
    forms = [form for form in _FORMS if form in raw]
    if len(forms) > 1:
        raise bad_value(f"names both `{forms[0]}:` and `{forms[1]}:`; a tool is one of them, so split it in two")
    return forms[0] if forms else None


def _read_grant(raw: Any, info: ValidationInfo) -> Any:
    if isinstance(raw, Scalar):
        return BuiltinGrant.model_validate({"builtin": raw}, context=info.context)
    if isinstance(raw, Items):
        raise bad_value(wrong_shape(raw, "a tool's name"))
    if not isinstance(raw, Entries):
        return raw
    form = _form_of(raw)
    if form is None:
        raise bad_value(
            "grants nothing; write a tool's name, `builtin: NAME`, `python: NAME`, `agent: NAME`, `mcp: SERVER`, "
            "or a custom tool with `name:`, `description:` and `run:`"
        )
    return _FORMS[form].model_validate(raw, context=info.context)


def _read_selected(raw: Any, info: ValidationInfo) -> Any:
    if isinstance(raw, Items):
        raise bad_value(wrong_shape(raw, "a tool's name"))
    if not isinstance(raw, Entries):
        return read_name(raw)
    form = _form_of(raw)
    if form is None:
        raise bad_value("selects nothing; write a tool's name, or a custom tool with `name:`, `description:`, `run:`")
    grant = _FORMS[form].model_validate(raw, context=info.context)
    if isinstance(grant, CustomGrant):
        return grant
    if isinstance(grant, McpGrant):
        raise bad_value("selects tools of a server as a mapping; write their names, such as `- SERVER__TOOL`")
    for key in raw.keys() - {form}:
        raise bad_value(f"sets `{key}:`, which binds where the tool is granted; write it in the agent's own `tools:`")
    return grant.name


class _OrName:
    """Adds the bare name of a built-in tool to a grant's JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"enum": list(BUILTIN_TOOLS)}, *handler(core)["anyOf"]]}


class _OrMapping:
    """Adds the mapping form of a selection to its JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        forms = [form for form in _FORMS if form not in ("mcp", "run")]
        mappings = [
            {
                "type": "object",
                "properties": {form: {"type": "string"}},
                "required": [form],
                "additionalProperties": False,
            }
            for form in forms
        ]
        return {"anyOf": [*handler(core)["anyOf"], *mappings]}


Grant = Annotated[AnyGrant, BeforeValidator(_read_grant), _OrName()]
"""An entry of an agent's `tools:`."""

Selected = Annotated[str | CustomGrant, BeforeValidator(_read_selected), _OrMapping()]
"""An entry of a step's `tools:`: the name of a granted tool, or a custom tool of the step's own."""

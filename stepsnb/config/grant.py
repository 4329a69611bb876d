"""Tools an agent is granted: built-in ones by name, Python functions, and what a step may select."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from . import unsupported
from .concept import Complaint, Concept
from .conversions import bad_value, read_any_text, unknown_value
from .scalars import AnyText, DurationS, Flag, Text
from .tree import Entries, Items, Scalar
from .unsupported import Unsupported
from .wording import not_supported, wrong_shape

DEFAULT_TOOLS = ("read_file", "list_dir", "search_files")
"""What an agent without `tools:` may use: it reads and changes nothing."""

BUILTIN_TOOLS = (*DEFAULT_TOOLS, "run_shell", "write_file", "ask_user")

_FUNCTION = re.compile(r"(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:)?[A-Za-z_]\w*")
_TIMED = ("ask_user", "run_shell")


def _builtin_name(raw: Any) -> Any:
    name = read_any_text(raw)
    if name in unsupported.TOOLS:
        raise bad_value(not_supported("(a tool)", unsupported.TOOLS[name]))
    if isinstance(name, str) and name not in BUILTIN_TOOLS:
        raise unknown_value("tool", name, BUILTIN_TOOLS, "; a Python function is granted as `{python: NAME}`")
    return name


class BuiltinGrant(Concept):
    """A built-in tool; `default`, `timeout` and `options_required` shape how `ask_user` waits for a person."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.BUILTIN_GRANT

    builtin: Annotated[Text, BeforeValidator(_builtin_name)]
    required: Flag = Field(
        default=False, description="The step fails unless a call of this tool succeeded; `ask_user` only."
    )
    default: AnyText | None = Field(default=None, description="The answer when nobody answers.")
    timeout_s: DurationS | None = Field(
        None,
        validation_alias="timeout",
        description="How long `ask_user` waits for a person, or one `run_shell` call runs.",
    )
    options_required: Flag = Field(default=False, description="Refuse an answer that was not offered.")

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.builtin

    def complaints(self) -> Iterator[Complaint]:
        """Refuse settings that would do nothing on this tool."""
        if self.builtin not in _TIMED and self.timeout_s is not None:
            yield Complaint(("timeout",), f"`timeout:` does nothing on `{self.builtin}`; remove it")
        if self.builtin == "ask_user":
            return
        if self.required:
            text = f"`required: true` is for `ask_user` and Python tools, not `{self.builtin}`; assert on `tool_calls:`"
            yield Complaint(("required",), text)
        for key in ("default", "options_required"):
            if key in self.model_fields_set:
                yield Complaint((key,), f"`{key}:` is for `ask_user`, not `{self.builtin}`; remove it")


def _function_name(raw: Any) -> Any:
    name = read_any_text(raw)
    if isinstance(name, str) and not _FUNCTION.fullmatch(name):
        raise bad_value("names no function; write `NAME` for one of the notebook, or `package.module:NAME`")
    return name


class PythonGrant(Concept):
    """A Python function as a tool: one of the notebook by its name, or `module:function`."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.PYTHON_GRANT

    python: Annotated[Text, BeforeValidator(_function_name)]
    required: Flag = Field(default=False, description="The step fails unless a call of this tool succeeded.")

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.python.rpartition(":")[2]


def _read_grant(raw: Any, info: ValidationInfo) -> Any:
    if isinstance(raw, Scalar):
        return BuiltinGrant.model_validate({"builtin": raw}, context=info.context)
    if isinstance(raw, Items):
        raise bad_value(wrong_shape(raw, "a tool's name"))
    if not isinstance(raw, Entries):
        return raw
    forms = [form for form in ("builtin", "python", *unsupported.GRANT_FORMS) if form in raw]
    if len(forms) > 1:
        raise bad_value(f"names both `{forms[0]}:` and `{forms[1]}:`; a tool is one of them, so split it in two")
    if forms == ["builtin"]:
        return BuiltinGrant.model_validate(raw, context=info.context)
    if forms == ["python"]:
        return PythonGrant.model_validate(raw, context=info.context)
    if forms:
        raise bad_value(not_supported(f"(with `{forms[0]}:`)", unsupported.GRANT_FORMS[forms[0]]))
    raise bad_value("grants nothing; write a tool's name, `builtin: NAME` or `python: NAME`")


class _OrName:
    """Adds the bare name of a built-in tool to a grant's JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"enum": list(BUILTIN_TOOLS)}, *handler(core)["anyOf"]]}


Grant = Annotated[BuiltinGrant | PythonGrant, BeforeValidator(_read_grant), _OrName()]

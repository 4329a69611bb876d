"""A built-in tool by its name."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from .. import unsupported
from ..concept import Complaint, Concept
from ..conversions import bad_value, read_any_text, unknown_value
from ..scalars import AnyText, Flag, Text
from ..unsupported import Unsupported
from ..wording import not_supported
from .call_limits import CallDeadlineS

DEFAULT_TOOLS = ("read_file", "list_dir", "search_files")
"""What an agent without `tools:` may use: it reads and changes nothing."""

BUILTIN_TOOLS = (*DEFAULT_TOOLS, "run_shell", "write_file", "edit_file", "ask_user")


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
    misplaced_keys: ClassVar[dict[str, str]] = {
        "args": "pins arguments of custom and Python tools, a built-in one takes all of them from the model; remove it",
        "description": "is for custom and Python tools and sub-agents, a built-in one has its own; remove it",
        "max_calls": "is for custom and Python tools, not built-in ones; remove it",
        "max_output_bytes": "is for custom and Python tools, built-in ones carry their own output contract; remove it",
        "name": "is for custom and Python tools, a built-in one has its own; remove it",
        "retry": "is for custom and Python tools, a built-in one is called once; remove it",
    }

    builtin: Annotated[Text, BeforeValidator(_builtin_name)]
    required: Flag = Field(
        default=False, description="The step fails unless a call of this tool succeeded; `ask_user` only."
    )
    default: AnyText | None = Field(default=None, description="The answer when nobody answers.")
    timeout_s: CallDeadlineS | None = Field(
        default=None,
        validation_alias="timeout",
        description='How long one call runs, or `ask_user` waits for a person; "0" means no limit.',
    )
    options_required: Flag = Field(default=False, description="Refuse an answer that was not offered.")

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.builtin

    def complaints(self) -> Iterator[Complaint]:
        """Refuse settings that would do nothing on this tool."""
        if self.builtin == "ask_user":
            return
        if self.required:
            text = (
                f"`required: true` is for custom tools, Python tools and `ask_user`, not `{self.builtin}`; "
                "assert on `tool_calls:`"
            )
            yield Complaint(("required",), text)
        for key in ("default", "options_required"):
            if key in self.model_fields_set:
                yield Complaint((key,), f"`{key}:` is for `ask_user`, not `{self.builtin}`; remove it")

"""A built-in tool by its name."""

import ipaddress
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from ..concept import Complaint, Concept
from ..conversions import read_any_text, unknown_value
from ..scalars import AnyText, Flag, Name, Text
from .call_limits import CallDeadlineS

DEFAULT_TOOLS = ("read_file", "list_dir", "search_files")
"""What an agent without `tools:` may use: it reads and changes nothing."""

BUILTIN_TOOLS = (*DEFAULT_TOOLS, "run_shell", "write_file", "edit_file", "web_fetch", "ask_user")


def _builtin_name(raw: Any) -> Any:
    name = read_any_text(raw)
    if isinstance(name, str) and name not in BUILTIN_TOOLS:
        raise unknown_value("tool", name, BUILTIN_TOOLS, "; a Python function is granted as `{python: NAME}`")
    return name


def host_problem(host: str) -> str | None:
    """Say why an entry of `allow:` is no bare host name; None when it is one, or an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return None
    if host.startswith("*."):
        return f"has a wildcard; write `{host[2:]}`, which covers its subdomains"
    bare = urlsplit(host if "//" in host else f"//{host}").hostname or ""
    if re.fullmatch(r"[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)*\.?", host):
        return None
    return f"is no bare host name; write `{bare}`" if bare and bare != host else "is no bare host name; write `HOST`"


class BuiltinGrant(Concept):
    """A built-in tool; `default`, `timeout` and `options_required` shape how `ask_user` waits for a person.

    `allow` are the hosts that `web_fetch` reaches, with their subdomains; none means every public one.
    """

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
    answered_by: Name | None = Field(
        default=None, description="The agent that answers before a person is asked; `ask_user` only."
    )
    allow: tuple[Text, ...] = Field(
        default=(), description="Hosts that `web_fetch` reaches, with their subdomains; unset: every public one."
    )

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.builtin

    def complaints(self) -> Iterator[Complaint]:
        """Refuse settings that would do nothing on this tool."""
        if self.builtin == "web_fetch":
            for index, host in enumerate(self.allow):
                if problem := host_problem(host):
                    yield Complaint(("allow", index), f"`allow: {host}` {problem}", ("allow",))
        elif "allow" in self.model_fields_set:
            yield Complaint(("allow",), f"`allow:` is for `web_fetch`, not `{self.builtin}`; remove it")
        if self.builtin == "ask_user":
            return
        if self.required:
            text = (
                f"`required: true` is for custom tools, Python tools and `ask_user`, not `{self.builtin}`; "
                "assert on `tool_calls:`"
            )
            yield Complaint(("required",), text)
        for key in ("default", "options_required", "answered_by"):
            if key in self.model_fields_set:
                yield Complaint((key,), f"`{key}:` is for `ask_user`, not `{self.builtin}`; remove it")

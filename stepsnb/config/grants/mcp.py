"""Tools of an MCP server: one, several, or all it has."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from ...suggest import unknown_name
from ..concept import Complaint, Concept
from ..retry import RetryOverride
from ..scalars import AtLeast1, Flag, Name, Text
from .call_limits import CallDeadlineS, MaxOutputBytes
from .tool_name import wrong_name

SEPARATOR = "__"
"""Between a server's name and its tool's, in the name that models see."""

_ONE_TOOL = ("description", "required", "max_calls")


class McpGrant(Concept):
    """Tools of an entry of `mcp_servers:`; the model sees each as `SERVER__TOOL`."""

    misplaced_keys: ClassVar[dict[str, str]] = {
        "args": "pins arguments of custom and Python tools, a server's takes all of them from the model; remove it",
        "name": "is for custom and Python tools, a server's tool is called `SERVER__TOOL`; remove it",
    }

    mcp: Name = Field(description="An entry of `mcp_servers:`.")
    tool: Text | None = Field(default=None, description="One tool, by the name the server has for it.")
    tools: tuple[Text, ...] | None = Field(default=None, description="Several; without `tool:` and `tools:` all.")
    description: Text | None = Field(default=None, description="What the model reads; unset: the server's own.")
    required: Flag = Field(default=False, description="The step fails unless a call of this tool succeeded.")
    max_calls: AtLeast1 | None = Field(default=None, description="Calls of one conversation; more are refused.")
    timeout_s: CallDeadlineS | None = Field(
        default=None, validation_alias="timeout", description='How long one call runs; "0" means no limit.'
    )
    max_output_bytes: MaxOutputBytes | None = Field(
        default=None, description="Of a result that goes to the model; a longer one becomes a file."
    )
    retry: RetryOverride | None = Field(default=None, description="For these tools alone, after all other layers.")

    @property
    def chosen(self) -> tuple[str, ...] | None:
        """The server's tools it names; None for all there are."""
        return (self.tool,) if self.tool is not None else self.tools

    @property
    def names(self) -> tuple[str, ...]:
        """The names the model calls the tools by; `SERVER__*` stands for all there are."""
        return tuple(f"{self.mcp}{SEPARATOR}{tool}" for tool in self.chosen or ("*",))

    @property
    def name(self) -> str:
        """The name of the tool; of several, all of them."""
        return ", ".join(self.names)

    def covers(self, name: str) -> bool:
        """Whether it grants a tool that the model calls `name`; whether a whole server has it shows when it runs."""
        return name in self.names or (self.chosen is None and name.startswith(self.mcp + SEPARATOR))

    def complaints(self) -> Iterator[Complaint]:
        """Refuse two choices, one of nothing, and settings of one tool for several."""
        if self.tool is not None and self.tools is not None:
            text = "names both `tool:` and `tools:`; keep one, as `tools:` takes any number"
            yield Complaint(("tool",), text, ("tool", "tools"))
        if self.tools == ():
            yield Complaint(("tools",), "`tools: []` grants nothing; name some, or remove it for all", ("tools",))
        for key in _ONE_TOOL:
            if self.tool is None and key in self.model_fields_set:
                text = f"`{key}:` is for one tool; grant it with `tool: NAME` in an entry of its own"
                yield Complaint((key,), text, ("tool", key))
        if self.timeout_s is not None and self.retry is not None and self.retry.run_timeout_secs is not None:
            text = "`timeout:` and `retry.run_timeout_secs:` both say how long a call runs; keep `timeout:`"
            yield Complaint(("retry", "run_timeout_secs"), text, ("timeout", "retry"))
        for index, tool in enumerate(self.chosen or ()):
            at = ("tool",) if self.tool is not None else ("tools", index)
            if tool in (self.tools or ())[:index]:
                yield Complaint(at, f"tool `{tool}` is granted twice; keep one", ("tools",))
            elif wrong := wrong_name(f"{self.mcp}{SEPARATOR}{tool}", "grant another tool"):
                yield Complaint(at, wrong, ("mcp", "tool", "tools"))


def server_complaint(grant: McpGrant, known: frozenset[str]) -> Complaint | None:
    """Refuse a grant of a server that `mcp_servers:` has not."""
    if grant.mcp in known:
        return None
    return Complaint(("mcp",), unknown_name("MCP server", grant.mcp, known), ("mcp",))

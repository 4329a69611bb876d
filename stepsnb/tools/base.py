"""What a tool is, what it is given, and what it gives back."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..workspace import Root

if TYPE_CHECKING:
    from ..llm import ToolSpec

Value = Any
"""Whatever a tool's `check` makes of the arguments of a call."""


def to_json(value: object) -> str:
    """Write a value the way models read it: compact JSON, letters of any script as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to; failures are results too.

    `content` is what the model sees, `data` the same for programs where it is structured. `is_truncated` says that
    the tool held something back. `long_text` is what a file holds instead of `content` when that is too long for the
    conversation: text with lines to page through.
    """

    content: str
    is_error: bool = False
    data: dict[str, Any] | None = None
    is_truncated: bool = False
    long_text: str | None = None

    @classmethod
    def error(cls, message: str) -> "ToolResult":
        """Tell the model what went wrong and what to do instead."""
        return cls.of({"error": message}, is_error=True)

    @classmethod
    def of(
        cls,
        data: dict[str, Any],
        *,
        is_error: bool = False,
        is_truncated: bool = False,
        long_text: str | None = None,
    ) -> "ToolResult":
        """Give a structured result as JSON."""
        return cls(to_json(data), is_error, data, is_truncated, long_text)


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question of the model's for a person; `timeout_s` is how long one is waited on, None means the usual time."""

    text: str
    options: tuple[str, ...] = ()
    options_required: bool = False
    default: str | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class AskReply:
    """What came of a question; `source` says who answered, `note` is for the model when nobody did."""

    answered: bool
    answer: str
    source: str
    note: str | None = None


Ask = Callable[[AskRequest], Awaitable[AskReply]]
"""Puts a question to people. Raises `errors.Aborted` when nobody answered and there is no default."""


@dataclass(slots=True)
class ToolContext:
    """Where a call runs: the folder its paths are confined to, and who asks; nobody can be asked without `ask`."""

    root: Root
    ask: Ask | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model may call.

    `parameters` is the JSON schema of the arguments. `check` turns them into what `call` is given, raising
    `pydantic.ValidationError`; without it `call` is given them as they came. `is_read_only` calls may run side by
    side. `spills` says that a long result goes to a file; without it the tool bounds its results itself. `required`
    means that a step fails without a call that succeeded. After `run_timeout_s` a call is cut off from outside; None
    is for tools that wait for a person, keep a clock of their own, or are too short to be interrupted.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    call: Callable[[Value, ToolContext], Awaitable[ToolResult]]
    check: Callable[[dict[str, Any]], Value] | None = None
    is_read_only: bool = False
    required: bool = False
    spills: bool = True
    waits_for_person: bool = False
    run_timeout_s: float | None = None

    @property
    def spec(self) -> "ToolSpec":
        """The tool as a model sees it."""
        from ..llm import ToolSpec

        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)

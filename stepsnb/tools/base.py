"""What a tool is, what it is given, and what it gives back."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..effects import RetryNotice, RetryPolicy
from ..errors import ErrorCode
from ..events import Emit, Event
from ..workspace import Root, Shell

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
    code: ErrorCode | None = None
    retryable: bool = False

    @classmethod
    def error(cls, message: str, *, code: ErrorCode | None = None, retryable: bool = False) -> "ToolResult":
        """Tell the model what went wrong and what to do instead."""
        data = {"error": message}
        return cls(to_json(data), is_error=True, data=data, code=code, retryable=retryable)

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
    """A question of the model's for a person; `timeout_s` is how long one is waited on, None means the usual time.

    With `takes_reason` a reason may follow the option that is chosen, behind a colon. `answered_by` names the agent
    that is asked before a person is.
    """

    text: str
    options: tuple[str, ...] = ()
    options_required: bool = False
    default: str | None = None
    timeout_s: float | None = None
    takes_reason: bool = False
    answered_by: str | None = None

    @property
    def for_agent(self) -> str:
        """The question as an agent is asked it, with the options that were offered."""
        if not self.options:
            return self.text
        rule = "Answer with one of these and nothing else" if self.options_required else "Some possible answers"
        return f"{self.text}\n\n{rule}:\n" + "\n".join(f"- {option}" for option in self.options)


@dataclass(frozen=True, slots=True)
class AskReply:
    """What came of a question; `source` says who answered, `note` is for the model when nobody did."""

    answered: bool
    answer: str
    source: str
    note: str | None = None


Ask = Callable[[AskRequest], Awaitable[AskReply]]
"""Puts a question to people. Raises `errors.Aborted` when nobody answered and there is no default."""


def _to_nobody(event: Event) -> None:
    """Drop an event: nobody is listening."""


@dataclass(slots=True)
class ToolContext:
    """Where a call runs, and whom it may turn to; a conversation has one, whose copies its calls are given.

    `root` is the folder that paths are confined to. `shell` runs the programs of tools, perhaps in a container; None is
    this machine. Nobody can be asked without `ask`. `on_retry` is told before a call is made again. `calls_made` counts
    the calls of each tool that ran, for `max_calls`; copies share it. What differs from call to call is filled in by
    `call_tool`: `call_id`, and `deadline`, the time of the loop's clock at which the call is ended, None for never.
    """

    root: Root
    shell: Shell | None = None
    ask: Ask | None = None
    emit: Emit = _to_nobody
    on_retry: Callable[[RetryNotice], None] | None = None
    calls_made: Counter[str] = field(default_factory=Counter)
    call_id: str = ""
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model may call.

    `parameters` is the JSON schema of the arguments. `check` turns them into what `call` is given, raising
    `pydantic.ValidationError`; without it `call` is given them as they came. `pins` are arguments that the model
    neither sees nor can change.

    `is_read_only` calls change nothing. They may run side by side, and so may those of a tool that `runs_together`.
    `required` means that a step fails without a call that succeeded. After `max_calls` a conversation's further calls
    are refused.

    `spills` says that a result over `max_output_bytes` (None: `INLINE_OUTPUT_BYTES`) goes to a file; without it the
    tool bounds its results itself. `policy` has the clocks and attempts of a call; None is the default for tools, or no
    bound for one that `waits_for_person`. A call that `is_uninterruptible` is not cut off when its time is over, nor is
    one of a tool that `keeps_time`, which ends by itself at `ToolContext.deadline` and tells what it had got by then.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    call: Callable[[Value, ToolContext], Awaitable[ToolResult]]
    check: Callable[[dict[str, Any]], Value] | None = None
    pins: Mapping[str, Any] = field(default_factory=dict)
    is_read_only: bool = False
    runs_together: bool = False
    required: bool = False
    max_calls: int | None = None
    spills: bool = True
    max_output_bytes: int | None = None
    waits_for_person: bool = False
    is_uninterruptible: bool = False
    keeps_time: bool = False
    policy: RetryPolicy | None = None

    @property
    def is_safe_to_repeat(self) -> bool:
        """Whether a call may be made again when nobody knows what came of it."""
        return self.is_read_only

    @property
    def spec(self) -> "ToolSpec":
        """The tool as a model sees it."""
        from ..llm import ToolSpec

        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)

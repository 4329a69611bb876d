"""The one tree of exceptions; each message says where, what, and what instead."""

from enum import StrEnum

from .visible import visible


class StepsError(Exception):
    """Base of every error a person can act on; `code` is stable and meant for scripts.

    Its text is for people: what would steer a terminal is shown, not obeyed.
    """

    code: str = "error"

    def __str__(self) -> str:
        return visible(super().__str__())


class ConfigError(StepsError):
    """A pipeline that cannot be loaded; the message has one `file:line:column: …` line for each problem."""

    code = "config"


class WorkspaceError(StepsError):
    """A directory, artifact or file of a run that cannot be prepared or captured."""

    code = "workspace"


class ResourceError(StepsError):
    """A resource that cannot be checked, fetched or published.

    `has_failed` tells a program that ran and said no, or took longer than it may, from machinery that broke.
    """

    code = "resource"

    def __init__(self, message: str, *, has_failed: bool = False) -> None:
        super().__init__(message)
        self.has_failed = has_failed


class McpError(StepsError):
    """An MCP server that cannot be started or reached, or that broke off; `retryable` says whether it may pass."""

    code = "mcp"

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class StoreError(StepsError):
    """A run store that cannot be opened, read or written."""

    code = "store"


class InputError(StepsError):
    """Something the caller handed in: a job, variable, answer or run id that does not fit."""

    code = "input"


class Aborted(StepsError):
    """A person or the kernel stopped the work, or a question that needed an answer had none."""

    code = "aborted"


class ErrorCode(StrEnum):
    """What kind of failure an effect ended in."""

    PROVIDER_ERROR = "provider_error"
    RATE_LIMITED = "rate_limited"
    REFUSED = "refused"
    BUDGET_EXCEEDED = "budget_exceeded"
    DEADLINE_EXCEEDED = "deadline_exceeded"


class ProviderError(StepsError):
    """A model request that failed.

    `status` is the HTTP status, None when no response came. `retryable` says whether the same request may
    succeed later, `retry_after_s` how many seconds the provider asked to wait, `latency_s` how long it took.
    """

    code = "provider_error"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.latency_s: float | None = None


class ToolError(StepsError):
    """What a Python tool raises to say how a call failed, in words for the model.

    `retryable` says that the same call may succeed later; it is made again where the tool's `retry:` has attempts.
    """

    code: ErrorCode = ErrorCode.PROVIDER_ERROR

    def __init__(
        self, message: str, *, retryable: bool = False, code: ErrorCode | str = ErrorCode.PROVIDER_ERROR
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.code = ErrorCode(code)

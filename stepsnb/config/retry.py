"""What an agent or a tool changes of the retry policy; a field that is not set keeps the value it has."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from .concept import Concept
from .conversions import bad_value, read_number, read_whole
from .tree import Scalar

_MAX_SECONDS = 10 * 365 * 24 * 3600.0

_NO_TIMEOUT = "an override cannot remove a timeout; to wait almost forever write a large number"


def _read_timeout(raw: Any) -> Any:
    if isinstance(raw, Scalar) and raw.is_null:
        raise bad_value(f"has no value; {_NO_TIMEOUT}")
    value = _read_seconds(raw)
    if isinstance(value, float) and value <= 0:
        raise bad_value(f"is no time; {_NO_TIMEOUT}")
    return value


def _read_base(raw: Any) -> Any:
    value = _read_seconds(raw)
    if isinstance(value, float) and value <= 0:
        raise bad_value("must be above 0; to try again at once write `backoff_max_secs: 0`")
    return value


def _read_seconds(raw: Any) -> Any:
    if isinstance(raw, Scalar) and raw.is_plain and raw.text[-1:] in ("s", "m", "h"):
        raise bad_value("is no number; write seconds, such as `30`")
    if isinstance(raw, Scalar) and raw.is_null:
        raise bad_value("has no value; give seconds, or remove the key")
    value = read_number(raw)
    if isinstance(value, float) and not 0 <= value <= _MAX_SECONDS:
        raise bad_value("is out of range; give seconds, from 0 to ten years")
    return value


def _read_max_attempts(raw: Any) -> Any:
    if isinstance(raw, Scalar) and raw.is_null:
        raise bad_value("has no value; give 1 or more, or remove the key")
    value = read_whole(raw)
    if isinstance(value, int) and value < 1:
        raise bad_value("never runs; give 1 or more")
    return value


_SECONDS = WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": _MAX_SECONDS})
_TimeoutSecs = Annotated[float, BeforeValidator(_read_timeout), _SECONDS]
_BackoffBase = Annotated[float, BeforeValidator(_read_base), _SECONDS]
_BackoffMaxSecs = Annotated[
    float, BeforeValidator(_read_seconds), WithJsonSchema({"type": "number", "minimum": 0, "maximum": _MAX_SECONDS})
]
_MaxAttempts = Annotated[int, BeforeValidator(_read_max_attempts), WithJsonSchema({"type": "integer", "minimum": 1})]


class RetryOverride(Concept):
    """The fields of a retry policy that a layer changes, all times in seconds."""

    queue_timeout_secs: _TimeoutSecs | None = Field(default=None, description="The wait for an executor.")
    run_timeout_secs: _TimeoutSecs | None = Field(default=None, description="The work itself, in each attempt.")
    total_timeout_secs: _TimeoutSecs | None = Field(
        default=None, description="All attempts and the waits between them."
    )
    max_attempts: _MaxAttempts | None = Field(default=None, description="Attempts, not retries.")
    backoff_base_secs: _BackoffBase | None = Field(
        default=None, description="The wait before retry n is this to the power of n …"
    )
    backoff_max_secs: _BackoffMaxSecs | None = Field(default=None, description="… and at most this.")


class RetryLayers(Concept):
    """Overrides of one agent, by kind of effect; each kind changes what `default` set."""

    default: RetryOverride | None = Field(default=None, description="For every kind.")
    llm: RetryOverride | None = Field(default=None, description="Requests to the model.")
    tool: RetryOverride | None = Field(default=None, description="Calls of every tool.")
    subagent: RetryOverride | None = Field(default=None, description="Starts of sub-agents.")
    connector: RetryOverride | None = Field(default=None, description="Fetches of a server's list of tools.")

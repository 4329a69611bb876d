"""What each kind of effect may take: three timeouts, attempts, the waits between them, and who may change them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

from ..errors import InputError
from ..settings import ATTEMPTS, LLM_RUN_S, TOOL_RUN_S
from ..suggest import unknown_name

EffectKind: TypeAlias = Literal["llm", "tool", "waiting", "connector_call", "subagent", "connector"]
"""`waiting` is a tool that waits for a person or another process, `connector_call` a call of a connector's tool,
`connector` only the fetch of its list of tools."""

RetryKey: TypeAlias = Literal["llm", "tool", "subagent", "connector"]


class RetryFields(Protocol):
    """The fields of one layer, as `config` reads them; None where a layer says nothing."""

    @property
    def queue_timeout_secs(self) -> float | None:
        """Bound of the wait for an executor."""

    @property
    def run_timeout_secs(self) -> float | None:
        """Bound of the work of one attempt."""

    @property
    def total_timeout_secs(self) -> float | None:
        """Bound of all attempts and waits together."""

    @property
    def max_attempts(self) -> int | None:
        """Attempts, the first included."""

    @property
    def backoff_base_secs(self) -> float | None:
        """What the wait before retry n is the n-th power of."""

    @property
    def backoff_max_secs(self) -> float | None:
        """The longest such wait."""


class AgentRetry(Protocol):
    """`retry:` of an agent: a layer for every kind of effect, and one for each key."""

    @property
    def default(self) -> RetryFields | None:
        """For every kind."""

    @property
    def llm(self) -> RetryFields | None:
        """For model requests."""

    @property
    def tool(self) -> RetryFields | None:
        """For every tool call, those of connectors and those that wait included."""

    @property
    def subagent(self) -> RetryFields | None:
        """For starts of sub-agents."""

    @property
    def connector(self) -> RetryFields | None:
        """For the fetch of a connector's list of tools."""


Layer: TypeAlias = RetryFields | Mapping[str, float | None]

_FIELDS: Final = MappingProxyType(
    {
        "queue_timeout_secs": "queue_timeout_s",
        "run_timeout_secs": "run_timeout_s",
        "total_timeout_secs": "total_timeout_s",
        "max_attempts": "max_attempts",
        "backoff_base_secs": "backoff_base_s",
        "backoff_max_secs": "backoff_max_s",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """What one effect may take. A timeout of None sets no bound.

    `queue_timeout_s` bounds the wait for an executor, `run_timeout_s` the work of one attempt from its start,
    `total_timeout_s` everything from the first attempt on. `max_attempts` counts attempts, not retries.

    Raises: `InputError` for a bound that is not above 0 or has no end, less than one attempt, a negative wait.
    """

    queue_timeout_s: float | None = None
    run_timeout_s: float | None = None
    total_timeout_s: float | None = None
    max_attempts: int = 1
    backoff_base_s: float = 2.0
    backoff_max_s: float = 30.0

    def __post_init__(self) -> None:
        for written, name in _FIELDS.items():
            value = getattr(self, name)
            if name == "max_attempts":
                if value < 1:
                    raise InputError(f"`max_attempts: {value}` never tries; give 1 or more")
            elif name.startswith("backoff"):
                if not 0 <= value < math.inf:
                    raise InputError(f"`{written}: {value:g}` is no wait; give 0 or more seconds")
            elif value is not None and not 0 < value < math.inf:
                raise InputError(
                    f"`{written}: {value:g}` is no bound, and no override can remove one; "
                    "to wait almost forever give a large number of seconds"
                )

    def wait_before(self, retry: int) -> float:
        """Return the seconds to wait before retry `retry`; the first one, 1, is the second attempt."""
        try:
            return min(self.backoff_base_s**retry, self.backoff_max_s)
        except OverflowError:
            return self.backoff_max_s

    def bounded(self, timeout_s: float | None) -> "RetryPolicy":
        """Return this policy with `timeout_s` for one attempt: 0 means no bound, None changes nothing.

        The total of all attempts is never less.
        """
        if timeout_s is None:
            return self
        if not timeout_s:
            return replace(self, run_timeout_s=None, total_timeout_s=None)
        total = self.total_timeout_s
        return replace(self, run_timeout_s=timeout_s, total_timeout_s=None if total is None else max(total, timeout_s))

    def override(self, layer: Layer) -> "RetryPolicy":
        """Return this policy with what the layer says; None in it, or a missing key, changes nothing.

        Raises: `InputError` for a value that is none, and for an unknown key of a mapping.
        """
        changes: dict[str, float] = {}
        if isinstance(layer, Mapping):
            for written, value in layer.items():
                if written not in _FIELDS:
                    raise InputError(f"retry: {unknown_name('key', written, _FIELDS)}")
                if value is not None:
                    changes[_FIELDS[written]] = value
        else:
            for written, name in _FIELDS.items():
                value = getattr(layer, written)
                if value is not None:
                    changes[name] = value
        return replace(self, **changes) if changes else self  # type: ignore[arg-type]  # `max_attempts` is an int


DEFAULTS: Final[Mapping[EffectKind, RetryPolicy]] = MappingProxyType(
    {
        "llm": RetryPolicy(
            queue_timeout_s=60.0,
            run_timeout_s=LLM_RUN_S,
            total_timeout_s=1_800.0,
            max_attempts=ATTEMPTS,
            backoff_base_s=2.0,
            backoff_max_s=8.0,
        ),
        "tool": RetryPolicy(run_timeout_s=TOOL_RUN_S, total_timeout_s=600.0),
        "waiting": RetryPolicy(),
        "connector_call": RetryPolicy(
            queue_timeout_s=60.0,
            run_timeout_s=60.0,
            total_timeout_s=600.0,
            max_attempts=2,
            backoff_base_s=1.0,
            backoff_max_s=10.0,
        ),
        "subagent": RetryPolicy(
            queue_timeout_s=30.0,
            run_timeout_s=10.0,
            total_timeout_s=3_600.0,
            max_attempts=3,
            backoff_base_s=2.0,
            backoff_max_s=15.0,
        ),
        "connector": RetryPolicy(
            queue_timeout_s=10.0,
            run_timeout_s=5.0,
            total_timeout_s=30.0,
            max_attempts=2,
            backoff_base_s=2.0,
            backoff_max_s=10.0,
        ),
    }
)
"""What holds where nobody says anything. A tool is tried once: nobody here knows whether it is safe to repeat."""

_KEYS: Final[Mapping[EffectKind, RetryKey]] = MappingProxyType(
    {
        "llm": "llm",
        "tool": "tool",
        "waiting": "tool",
        "connector_call": "tool",
        "subagent": "subagent",
        "connector": "connector",
    }
)


def retry_key(kind: EffectKind) -> RetryKey:
    """Return the key of `retry:` that covers a kind, which is also what the `retry` event calls it."""
    return _KEYS[kind]


def agent_layers(kind: EffectKind, retry: AgentRetry | None) -> tuple[RetryFields | None, RetryFields | None]:
    """Return an agent's own layers for a kind, the wider one first."""
    return (None, None) if retry is None else (retry.default, getattr(retry, retry_key(kind)))


def attempts_layer(attempts: int | None) -> Layer | None:
    """Return the layer that `attempts: N` is short for, for a kind `llm`."""
    return None if attempts is None else {"max_attempts": attempts}


def policy_for(kind: EffectKind, *layers: Layer | None) -> RetryPolicy:
    """Return the policy of one effect: the default of its kind, changed by each layer in turn, widest first.

    That is the agent's `default`, the agent's own for the kind (`agent_layers` gives both), the call's own.
    Raises: `InputError` as `RetryPolicy.override` does.
    """
    policy = DEFAULTS[kind]
    for layer in layers:
        if layer is not None:
            policy = policy.override(layer)
    return policy

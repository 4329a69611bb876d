"""How an effect is tried: its clocks, its attempts and the waits between them. The one owner of retries."""

from .errors import EffectFailed, code_of
from .policy import DEFAULTS, EffectKind, Layer, RetryPolicy, agent_layers, attempts_layer, policy_for, retry_key
from .runner import Attempt, RetryNotice, run_effect
from .slots import Executor, Slots

__all__ = [
    "DEFAULTS",
    "Attempt",
    "EffectFailed",
    "EffectKind",
    "Executor",
    "Layer",
    "RetryNotice",
    "RetryPolicy",
    "Slots",
    "agent_layers",
    "attempts_layer",
    "code_of",
    "policy_for",
    "retry_key",
    "run_effect",
]

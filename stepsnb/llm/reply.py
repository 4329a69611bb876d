"""What a model request gave: a reply, or an error that keeps what had arrived before it."""

from decimal import Decimal

import msgspec

from ..errors import ProviderError
from ..messages import Mark, ToolCall
from ..usage import Usage


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One whole reply of a model.

    `text` None means that the provider sent none, which is not an empty text. `usage` is None when the provider
    reported no tokens, `cost_usd` when no price is known; `price_source` says where the price came from.
    `latency_s` runs to the end of the reply, `first_token_s` to the first text, thinking or call of it. `marks` says
    what was wrong with it.
    """

    text: str | None = None
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str = ""
    status: int = 200
    latency_s: float = 0.0
    first_token_s: float | None = None
    cost_usd: Decimal | None = None
    price_source: str | None = None
    marks: tuple[Mark, ...] = ()


class RequestFailed(ProviderError):
    """A request that gave no whole reply; `partial` holds what had arrived of it, None when nothing had."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        partial: Reply | None = None,
    ) -> None:
        super().__init__(message, status=status, retryable=retryable, retry_after_s=retry_after_s)
        self.partial = partial
        self.latency_s = 0.0

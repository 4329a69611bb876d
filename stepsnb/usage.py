"""Token counts of model requests and what they cost."""

from decimal import Decimal

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one or more requests in disjoint classes.

    Input is uncached input only; `reasoning_tokens` is the part of `output_tokens` spent on thinking.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )

    @property
    def prompt_tokens(self) -> int:
        """Everything the model read: uncached, cached and written-to-cache input."""
        return self.input_tokens + self.cached_input_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """Everything read and written."""
        return self.prompt_tokens + self.output_tokens


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars for one million tokens of each class, and who says so."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    source: str = "pipeline"

    def cost_usd(self, usage: Usage) -> Decimal:
        """Price `usage`; a cache class without a price of its own costs what plain input costs."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        millionths = (
            usage.input_tokens * self.input
            + usage.cached_input_tokens * read
            + usage.cache_write_tokens * write
            + usage.output_tokens * self.output
        )
        return millionths / 1_000_000

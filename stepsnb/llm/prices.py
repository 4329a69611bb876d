"""What a request cost: by the pipeline's own prices, else by the table of genai-prices that comes with it (offline)."""

import functools
from decimal import Decimal
from typing import Any

from ..usage import Usage
from .addresses import is_loopback
from .providers import provider_named
from .target import Target

_TABLE = "genai-prices"


def price_usage(target: Target, usage: Usage) -> tuple[Decimal | None, str | None]:
    """Return the cost in US dollars and who says so; (None, None) when nobody knows the price, which is not 0."""
    if target.price is not None:
        return target.price.cost_usd(usage), target.price.source
    known = known_model(target)
    if known is None:
        return None, None
    from genai_prices import Usage as Counts

    provider, model = known
    counts = Counts(
        input_tokens=usage.prompt_tokens,
        cache_read_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    return model.calc_price(counts, provider).total_price, price_table()


@functools.cache
def price_table() -> str:
    """Name the table with its version, which dates it: prices change, and what was paid was by the prices of then."""
    from importlib.metadata import version

    return f"{_TABLE} {version(_TABLE)}"


def known_model(target: Target) -> tuple[Any, Any] | None:
    """Return genai-prices' provider and model for a target, None when it has none.

    A server on this machine is not looked up: a model's name alone says nothing about what it costs there.
    """
    prices_id = provider_named(target.provider, target.base_url).prices_id
    if target.client is not None and prices_id is None:
        return _known_to_client(target)
    if prices_id is None and (not target.base_url or target.provider != "endpoint" or is_loopback(target.base_url)):
        return None
    return _find(prices_id, None if prices_id else target.base_url, target.model)


def _known_to_client(target: Target) -> tuple[Any, Any] | None:
    """Look a model up by the address of the client, then by its name: the address is often that of a gateway."""
    if is_loopback(target.base_url):
        return None
    at_address = _find(None, target.base_url, target.model) if target.base_url else None
    return at_address or _find(None, None, target.model)


@functools.lru_cache(maxsize=256)
def _find(provider_id: str | None, api_url: str | None, model: str) -> tuple[Any, Any] | None:
    # Imported here: it takes a quarter of a second, and most runs with a price of their own never need it.
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, provider_id, api_url)
    except LookupError:
        return None

"""Whether there is money for a conversation before it begins."""

from ..config import Agent
from ..errors import InputError
from ..llm import Target, estimate_text
from ..llm.prices import price_usage
from ..usage import Usage
from .meter import Meter


def check_price(target: Target, agent: str, meter: Meter) -> None:
    """Refuse an agent whose price nobody knows where somebody bounds dollars. Raises: InputError."""
    owner = meter.bounds_money
    if owner is not None and price_usage(target, Usage())[0] is None:
        raise InputError(
            f"agent `{agent}`: the budget of {owner} is in US dollars and nobody knows the price of `{target.label}`; "
            f"add `prices: {{{target.label}: {{input: …, output: …}}}}`"
        )


def unfunded(meter: Meter, child: Agent, request: str) -> str | None:
    """Say why a sub-agent cannot be paid; its first request alone has to fit."""
    needed = estimate_text(child.system or "") + estimate_text(request)
    if meter.max_tokens is not None and meter.max_tokens <= needed:
        return (
            f"agent `{child.name}` was not called: {meter.max_tokens:,} tokens of the budget are left for it and the "
            f"request alone takes about {needed:,}; do the work yourself, or say what is missing"
        )
    if meter.max_usd is not None and meter.max_usd <= 0:
        return f"agent `{child.name}` was not called: no money of the budget is left for it; answer from what you have"
    return None

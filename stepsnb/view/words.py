"""Figures as people read them: durations, sizes, counts, money, and one line for a tool call."""

import json
from decimal import Decimal
from typing import Any

from ..visible import one_line

SUMMARY_CHARACTERS = 80
INDENT_FROM_CHARACTERS = 100

_WANTED = ("pattern", "query", "regex", "question")
_PLACES = ("path", "file", "directory", "folder", "command", "script", "url", "name")


def duration_words(seconds: float) -> str:
    """Say how long something took: `4 ms`, `0.4 s`, `12 s`, `1 min 22 s`, `2 h 05 min`."""
    if seconds < 0.1:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size_words(size: int) -> str:
    """Say how large something is: `412 bytes`, `3.1 KB`, `2.0 MB`."""
    if size < 1000:
        return count_words(size, "byte")
    return f"{size / 1000:.1f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def count_words(count: int, noun: str) -> str:
    """Say how many there are: `1 turn`, `1,200 turns`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def cost_words(cost_usd: Decimal, unpriced: int, priced: int) -> str:
    """Say what requests cost, and whether some have no known price; empty when there were none."""
    if not priced:
        return "unpriced" if unpriced else ""
    if not cost_usd:
        money = "$0"
    elif cost_usd >= Decimal("0.001"):
        money = f"${cost_usd:,.3f}"
    else:
        money = f"${cost_usd.quantize(Decimal('0.000001')).normalize():f}"
    return f"{money} + {unpriced} unpriced" if unpriced else money


def tokens_words(tokens: int, cached_percent: int | None) -> str:
    """Say how many tokens were used and how much of what was read came from a cache."""
    if not tokens:
        return ""
    return count_words(tokens, "token") + (f" ({cached_percent}% cached)" if cached_percent else "")


def argument_summary(arguments: str) -> str:
    """Return the argument that says most about a call, on one line; quoted unless it names a place or a command."""
    parsed = _parse(arguments)
    if not isinstance(parsed, dict):
        return one_line(arguments, SUMMARY_CHARACTERS)
    texts = {key: value for key, value in parsed.items() if isinstance(value, str) and value.strip()}
    for key in (*_WANTED, *_PLACES, *texts):
        if key in texts:
            line = one_line(texts[key], SUMMARY_CHARACTERS)
            return line if key in _PLACES else f'"{line}"'
    return one_line(json.dumps(parsed, ensure_ascii=False), SUMMARY_CHARACTERS) if parsed else ""


def pretty_arguments(arguments: str) -> str:
    """Return the JSON of a call laid out for reading; what is no JSON stays as it is."""
    parsed = _parse(arguments)
    if parsed is None:
        return arguments
    flat = json.dumps(parsed, ensure_ascii=False)
    return flat if len(flat) < INDENT_FROM_CHARACTERS else json.dumps(parsed, ensure_ascii=False, indent=2)


def _parse(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None

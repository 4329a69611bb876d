"""What runs of the store would have cost by other prices than those of then."""

import os
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import InputError
from ..suggest import unknown_name
from ..usage import Price, Usage
from .options import PathLike

if TYPE_CHECKING:
    import pandas as pd

Prices: TypeAlias = "Mapping[str, Mapping[str, float | str | Decimal]] | PathLike"
"""US dollars per million tokens by model, as `prices:` of a pipeline has them; or a YAML file with them."""

_SOURCE = "given"
_NEEDED = ("input", "output")
_CLASSES = (*_NEEDED, "cache_read", "cache_write")
_TOKENS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens")


def read_prices(prices: Prices) -> dict[str, Price]:
    """Return the prices by model. Raises: InputError for a file that is not there, or what is no price."""
    if isinstance(prices, str | os.PathLike):
        prices = _read_file(Path(prices))
    if not isinstance(prices, Mapping):
        raise InputError("prices: give a mapping {MODEL: {input: …, output: …}}, US dollars per million tokens")
    return {str(model): _price(str(model), entry) for model, entry in prices.items()}


def _read_file(path: Path) -> Any:
    import yaml

    try:
        # Only scalars without tags: `!!python/…` in somebody else's file makes nothing.
        read = yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - that loader makes texts alone
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise InputError(f"prices: `{path}` cannot be read: {' '.join(str(exc).split())}") from exc
    return read.get("prices", read) if isinstance(read, dict) else read


def _price(model: str, entry: object) -> Price:
    where = f"prices of `{model}`"
    if not isinstance(entry, Mapping):
        raise InputError(f"{where}: give {{input: …, output: …}}, US dollars per million tokens")
    for name in entry:
        if name not in _CLASSES:
            raise InputError(f"{where}: {unknown_name('key', str(name), _CLASSES)}")
    for name in _NEEDED:
        if name not in entry:
            raise InputError(f"{where}: `{name}` is missing")
    return Price(**{name: _dollars(where, name, entry[name]) for name in entry}, source=_SOURCE)


def _dollars(where: str, name: str, value: object) -> Decimal:
    try:
        dollars = Decimal(str(value))
    except InvalidOperation:
        dollars = Decimal(-1)
    if not dollars.is_finite() or dollars < 0:
        raise InputError(f"{where}: `{name}: {value}` is no price; give US dollars per million tokens, such as 0.25")
    return dollars


def reprice(cost: "pd.DataFrame", requests: "pd.DataFrame", prices: Mapping[str, Price]) -> "pd.DataFrame":
    """Return the table of costs by other prices.

    A model is found by the name it has in the table, or by what follows its provider. One without a price, and one of
    whose requests a provider did not count the tokens, is `incomplete`.
    """
    uncounted = _uncounted(requests)
    found = cost.copy()
    for index, row in found.iterrows():
        price = prices.get(row["model"]) or prices.get(str(row["model"]).partition("/")[2])
        counts = Usage(**{name: int(row[name]) for name in _TOKENS})
        found.loc[index, "cost_usd"] = float("nan") if price is None else float(price.cost_usd(counts))
        found.loc[index, "price_source"] = None if price is None else _SOURCE
        found.loc[index, "incomplete"] = price is None or (row["step_id"], row["model"]) in uncounted
    return found


def _uncounted(requests: "pd.DataFrame") -> set[tuple[str, str]]:
    """Return steps and models with a request that may have been billed and has no tokens."""
    was_accepted = requests["error"].isna() | requests["status"].between(200, 299).fillna(False)
    rows = requests[was_accepted & (requests[list(_TOKENS)].sum(axis=1) == 0)]
    return set(zip(rows["step_id"], rows["model"], strict=True))
